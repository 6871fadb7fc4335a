import { memoryLog } from "@moora/event-log";
import { settled } from "../support.ts";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { asRead } from "@moora/testbed/as-read";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  agentTool,
  defineAgent,
  defineTool,
  InputRefused,
  openSession,
  runTask,
  startSession,
  type Agent,
  type ErrorReport,
  type OnApproval,
} from "../../src/index.ts";

const remove = defineTool({
  name: "remove",
  description: "Removes a file.",
  input: z.object({ path: z.string() }),
  execute: ({ path }) => `removed ${path}`,
});

const careful = (): { readonly agent: Agent; readonly llm: MockLlmCaller } => {
  const llm = new MockLlmCaller([
    callsTools([{ name: "remove", arguments: { path: "/a" } }]),
    answers("It is done."),
  ]);
  return { llm, agent: defineAgent({ llm, tools: [remove], config: { approval: { policy: "always" } } }) };
};

/** What the model reads: no details of what failed. */
const refusal = "Not run. The reviewer gave no valid decision.";

// What a host without types may say.
const untyped = (value: unknown): ReturnType<OnApproval> => JSON.parse(JSON.stringify(value));

const circle: Record<string, unknown> = {};
circle["self"] = circle;

describe("a decision of onApproval that cannot be taken", () => {
  it.each<[string, ReturnType<OnApproval>, RegExp]>([
    ["arguments that do not fit the tool", untyped({ approve: { path: 1 } }), /^decision\.approve: path: /],
    ["an answer where nothing was asked for one", untyped({ answer: "yes" }), /does not answer a question/],
    ["an invalid decision", untyped(true), /A decision must be "approve"/],
    ["a rejection without a reason", untyped({ reject: null }), /A decision must be "approve"/],
    ["nothing", untyped(null), /A decision must be "approve"/],
    ["arguments in a circle", { approve: circle }, /The value contains itself/],
  ])(
    "refuses the call of a task, which no person did, and is reported to onError: %s",
    async (_, decision, message) => {
      const { agent, llm } = careful();
      const reports: ErrorReport[] = [];
      const { text, state } = await runTask(agent, "Remove it.", {
        onApproval: () => decision,
        onError: (report) => reports.push(report),
      });
      expect(text).toBe("It is done.");
      expect(state.toolCalls["call_1"]?.decision).toMatchObject({ type: "rejected", by: "no-decision" });
      expect(asRead(state.toolCalls["call_1"]?.result)).toMatchObject({
        code: "no-decision",
        error: refusal,
      });
      expect(llm.callCount).toBe(2);
      expect(reports).toEqual([
        {
          source: "listener",
          key: "ask/call_1/1/1/0",
          error: expect.objectContaining({ message: expect.stringMatching(message) }),
        },
      ]);
      expect(reports[0]?.error).toBeInstanceOf(InputRefused);
    },
  );
});

describe("an onApproval that fails", () => {
  const failure = new Error("connect ECONNREFUSED 10.0.0.7:5432");

  it.each<[string, OnApproval]>([
    [
      "throws",
      () => {
        throw failure;
      },
    ],
    ["rejects", () => Promise.reject(failure)],
  ])(
    "and %s is reported to onError, and the model reads only that there is no decision",
    async (_, onApproval) => {
      const { agent, llm } = careful();
      const reports: ErrorReport[] = [];
      const run = runTask(agent, "Remove it.", { onApproval, onError: (report) => reports.push(report) });
      expect((await run).text).toBe("It is done.");
      expect(reports).toEqual([{ source: "listener", key: "ask/call_1/1/1/0", error: failure }]);
      const sent = JSON.stringify(llm.requests.at(-1));
      expect(sent).toContain(refusal);
      expect(sent).not.toContain("ECONNREFUSED");
    },
  );
});

describe("a question on which the onApproval of a session fails", () => {
  const down = new Error("The chat is down.");
  const fails = (): never => {
    throw down;
  };

  it("stays open for another reviewer, and for the next process", async () => {
    const { agent, llm } = careful();
    const log = memoryLog();
    const reports: ErrorReport[] = [];
    const first = await openSession(agent, {
      log,
      id: "s",
      onApproval: fails,
      onError: (report) => reports.push(report),
    });
    await first.send("Remove it.");
    await settled();
    expect(reports).toMatchObject([{ source: "listener", error: down }]);
    expect(first.questions()).toMatchObject([{ toolCallId: "call_1" }]);
    await first.close();
    await using second = await openSession(agent, { log, id: "s", onApproval: () => "approve" });
    await second.running();
    expect(second.current().toolCalls["call_1"]).toMatchObject({
      decision: { type: "approved", by: "host" },
      result: { isSuccess: true, content: "removed /a" },
    });
    expect(llm.callCount).toBe(2);
  });

  it("is answered by decide", async () => {
    const { agent } = careful();
    await using session = startSession(agent, { onApproval: fails, onError: () => undefined });
    const run = session.ask("Remove it.");
    await settled();
    const [question] = session.questions();
    if (question !== undefined) await session.decide(question, { reject: "Keep it." }, "ada");
    await run;
    expect(asRead(session.current().toolCalls["call_1"]?.result)).toMatchObject({
      code: "rejected",
      error: "A human rejected this call: Keep it.",
    });
  });

  it("is refused in the sub-agent of a task, which no other reviewer can answer", async () => {
    const { agent: remover, llm: removerLlm } = careful();
    const llm = new MockLlmCaller([
      callsTools([{ name: "clean", arguments: { task: "Go." } }]),
      answers("ok"),
    ]);
    const clean = agentTool(remover, { name: "clean", description: "Cleans up." });
    const run = runTask(defineAgent({ llm, tools: [clean] }), "Clean up.", {
      onApproval: fails,
      onError: () => undefined,
    });
    expect((await run).text).toBe("ok");
    expect(JSON.stringify(removerLlm.requests.at(-1))).toContain(refusal);
  });
});
