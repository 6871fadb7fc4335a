import { defineTool, type Decision, type Tool } from "@moora/agent";
import type { LlmCaller } from "@moora/llm";
import { answers, callsTools, MockLlmCaller, type MockStep } from "@moora/llm/testing";
import { describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { AgentBuilder } from "../../src/builder/agent-builder.ts";
import type { AgentEngine, EngineHost } from "../../src/builder/agent-engine.ts";
import { TestClock } from "@moora/testbed/test-clock";
import { answer, errorOf, eventNamesOf, hybridBuilder, stateOf, task, thrownBy } from "./support/runs.ts";
import { deleteTool, deletion, weatherIn, weatherTool } from "./support/tools.ts";

/** A host on which the same run is the same to the byte. */
function sameEachTime(): EngineHost {
  let count = 0;
  return { clock: new TestClock(), newId: (prefix) => `${prefix}_${++count}` };
}

const script: readonly MockStep[] = [
  callsTools([weatherIn("Oslo"), deletion("/a"), { name: "wether" }], { text: "Three things at once." }),
  answers("It may be warm, who knows?", { confidence: 0.1 }),
  callsTools([deletion("/b")]),
  callsTools([weatherIn("Rome")], { finish: "length" }),
  callsTools([weatherIn("Lima")]),
  answers("No."),
  answers(answer, { usage: { inputTokens: 5 }, confidence: 0.8 }),
];

/** A run with a bit of everything. */
function scene(): AgentEngine {
  const plans = script.values();
  const llm = new MockLlmCaller(({ purpose }) =>
    purpose === "reflect" ? answers("So far so good.") : (plans.next().value ?? answers(answer)),
  );
  return hybridBuilder(task)
    .llm(llm)
    .tool(weatherTool())
    .tool(deleteTool())
    .approvalPolicy({ above: "medium" })
    .onApproval(({ parameters }) =>
      JSON.stringify(parameters).includes("/a") ? { approve: { path: "/c" } } : { reject: "Keep it." },
    )
    .state("Review", () => ({ event: "Good", note: "Reviewed." }))
    .transition("Planning", "LlmFinalAnswer", "Review")
    .transition("Review", "Good", "Done")
    .build(sameEachTime());
}

const endless = (): AgentEngine =>
  new AgentBuilder(task)
    .llm(new MockLlmCaller(() => callsTools([weatherIn("Oslo")])))
    .tool(weatherTool())
    .build(sameEachTime());

describe("runSync", () => {
  it("results in the same state and path as run", async () => {
    const [now, later] = [scene(), scene()];
    expect(now.runSync()).toBe(await later.run());
    expect(now.state).toEqual(later.state);
    expect(eventNamesOf(now)).toEqual(eventNamesOf(later));
    expect(eventNamesOf(now)).toEqual(
      expect.arrayContaining([
        "HumanApprovalRequired",
        "NeedsReflection",
        "AnswerTooShort",
        "LowConfidence",
        "Good",
      ]),
    );
  });

  it("results in the same error as run", async () => {
    const error = thrownBy(() => endless().runSync());
    const other = await errorOf(endless().run());
    expect(error).toMatchObject({ kind: other.kind, reason: "MaxSteps", message: other.message });
    expect(error.state).toEqual(other.state);
    expect(error.trace.entries).toEqual(other.trace.entries);
  });

  it("needs a model with callSync; run is still possible after the error", async () => {
    const model = new MockLlmCaller([answers(answer)]);
    const llm: LlmCaller = { name: "slow", call: (request, options) => model.call(request, options) };
    const engine = new AgentBuilder(task).llm(llm).build();
    expect(thrownBy(() => engine.runSync())).toMatchObject({ kind: "LlmError", reason: "NotSynchronous" });
    expect(engine.currentState()).toBe("Idle");
    expect(await engine.run()).toBe(answer);
  });
});

const later = (output: Promise<unknown>): Tool =>
  defineTool({ name: "later", description: "Answers later.", input: z.object({}), execute: () => output });

const calling = (name: string, args: object = {}): MockLlmCaller =>
  new MockLlmCaller([callsTools([{ name, arguments: JSON.stringify(args) }]), answers(answer)]);

const whileItRan = {
  isSuccess: false,
  code: "cancelled-after-start",
  says: ["cancelledAfterStart"],
};

describe("a promise in a synchronous run", () => {
  it("is a ToolError for a tool, and leaves no timer behind", async () => {
    const clock = new TestClock();
    const engine = new AgentBuilder(task)
      .llm(calling("later"))
      .tool(later(Promise.resolve("here")))
      .build({ clock });
    const error = thrownBy(() => engine.runSync());
    expect(error).toMatchObject({ kind: "ToolError", reason: "NotSynchronous" });
    expect(error.message).toBe(
      "The tool later returned a promise, and a synchronous run cannot wait: use run().",
    );
    expect(stateOf(error).toolCalls["call_1"]?.result).toMatchObject(whileItRan);
    expect(engine.currentState()).toBe("Error");
    await new Promise((resolve) => setImmediate(resolve));
    expect(clock.waiting).toBe(0);
  });

  it.each([
    ["comes", () => Promise.resolve("Good")],
    ["fails", () => Promise.reject(new Error("The reviewer is ill."))],
  ])("is an AgentFailed for a handler, whose result is ignored if it %s", async (_, handler) => {
    const engine = new AgentBuilder(task)
      .llm(new MockLlmCaller([answers(answer)]))
      .state("Review", handler)
      .transition("Planning", "LlmFinalAnswer", "Review")
      .transition("Review", "Good", "Done")
      .build();
    const error = thrownBy(() => engine.runSync());
    expect(error).toMatchObject({ kind: "AgentFailed", reason: "NotSynchronous" });
    await new Promise((resolve) => setImmediate(resolve));
    expect(engine.currentState()).toBe("Error");
  });

  it.each<[string, () => Decision | Promise<Decision>, RegExp | undefined]>([
    ["a promise", () => Promise.resolve<Decision>("approve"), /cannot wait/],
    ["a promise that fails", () => Promise.reject(new Error("lost")), /cannot wait/],
    ["an error", lost, /The pager is down/],
    ["arguments that do not fit", () => ({ approve: { path: 7 } }), /path: /],
    ["an answer to no question", () => ({ answer: "yes" }), undefined],
  ])("is a rejection for an approval, and the reason is printed: %s", (_, onApproval, reason) => {
    const printed = vi.spyOn(console, "error").mockReturnValue(undefined);
    const deleted: string[] = [];
    const engine = new AgentBuilder(task)
      .llm(calling("delete_file", { path: "/a" }))
      .tool(deleteTool(deleted))
      .approvalPolicy("always")
      .onApproval(onApproval)
      .build();
    expect(engine.runSync()).toBe(answer);
    expect(deleted).toEqual([]);
    expect(engine.memory().lastObservation).toContain("The reviewer gave no valid decision.");
    if (reason !== undefined) expect(String(printed.mock.lastCall?.[1])).toMatch(reason);
    printed.mockRestore();
  });

  it("is a rejection for an approval without a reviewer", () => {
    const engine = new AgentBuilder(task)
      .llm(calling("delete_file", { path: "/a" }))
      .tool(deleteTool())
      .approvalPolicy("always")
      .build();
    expect(engine.runSync()).toBe(answer);
    expect(engine.memory().lastObservation).toContain("Not run. No reviewer is available.");
  });
});

function lost(): never {
  throw new Error("The pager is down.");
}

describe("a synchronous run, from inside its tools", () => {
  it("can be inspected and canceled", () => {
    const seen: string[] = [];
    const stop = defineTool({
      name: "stop",
      description: "Stops the run.",
      input: z.object({}),
      execute(_, { signal }) {
        seen.push(engine.currentState(), String(engine.trace().length));
        engine.cancel("The tool said so.");
        seen.push(signal.aborted ? "aborted" : "not aborted");
        return "stopped";
      },
    });
    const llm = new MockLlmCaller([callsTools([{ name: "stop" }])]);
    const engine: AgentEngine = new AgentBuilder(task).llm(llm).tool(stop).build();
    const error = thrownBy(() => engine.runSync());
    expect(error).toMatchObject({ kind: "Cancelled", message: "The tool said so." });
    expect(seen).toEqual(["Acting", "2", "aborted"]);
    expect(stateOf(error).toolCalls["call_1"]?.result).toMatchObject(whileItRan);
  });
});
