import { defineTool, startSession, type Decision, type Question } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { AgentBuilder } from "../../src/builder/agent-builder.ts";
import { TestClock } from "@moora/testbed/test-clock";
import { answer, eventsOf, movesOf, resultsIn, task } from "./support/runs.ts";
import { deleteTool, deletion, weatherIn, weatherTool } from "./support/tools.ts";

interface Scene {
  readonly llm: MockLlmCaller;
  readonly deleted: readonly string[];
  readonly builder: AgentBuilder;
}

/** A model that makes these calls, of which deletions need an approval, and then answers. */
function asking(...calls: Parameters<typeof callsTools>[0]): Scene {
  const deleted: string[] = [];
  const llm = new MockLlmCaller([callsTools(calls), answers(answer)]);
  const builder = new AgentBuilder(task)
    .llm(llm)
    .tool(weatherTool())
    .tool(deleteTool(deleted))
    .approvalPolicy({ above: "medium" });
  return { llm, deleted, builder };
}

const contents = (llm: MockLlmCaller): readonly string[] =>
  resultsIn(llm.requests[1]).map(({ content }) => content);

describe("an approval without a reviewer", () => {
  it("is a rejection, and the run continues", async () => {
    const { llm, deleted, builder } = asking(deletion("/a"));
    const engine = builder.build();
    expect(await engine.run()).toBe(answer);
    expect(deleted).toEqual([]);
    expect(contents(llm)).toEqual(["Not run. No reviewer is available."]);
    expect(movesOf(engine)).toEqual([
      "Idle Start Planning",
      "Planning HumanApprovalRequired WaitingForHuman",
      "WaitingForHuman HumanRejected Observing",
      "Observing Continue Planning",
      "Planning LlmFinalAnswer Done",
    ]);
  });

  it("that times out is a rejection, too", async () => {
    const { llm, deleted, builder } = asking(deletion("/a"));
    const clock = new TestClock();
    const engine = builder
      .config({ approval: { policy: "always", expiresAfterMs: 60_000 } })
      .build({ clock });
    const waits: number[] = [];
    for await (const event of engine.runStreaming()) {
      if (event.type !== "ApprovalRequested" || event.due === null) continue;
      waits.push(event.due - clock.now());
      clock.advanceTo(event.due);
    }
    expect(waits).toEqual([60_000]);
    expect(engine.memory().finalAnswer).toBe(answer);
    expect(deleted).toEqual([]);
    expect(contents(llm)).toEqual(["Nobody approved this call in time. It was not run."]);
  });
});

describe("onApproval", () => {
  it("receives the question, and its approval lets the call run", async () => {
    const { deleted, builder } = asking(deletion("/a"));
    const questions: Question[] = [];
    const engine = builder
      .onApproval((question) => {
        questions.push(question);
        return "approve";
      })
      .build();
    await engine.run();
    expect(deleted).toEqual(["/a"]);
    expect(questions).toMatchObject([
      { toolCallId: "call_1", about: "approval", name: "delete_file", parameters: { path: "/a" }, due: null },
    ]);
    expect(movesOf(engine)).toContain("WaitingForHuman HumanApproved Acting");
    expect(engine.state.toolCalls["call_1"]?.decision).toMatchObject({ type: "approved", by: "host" });
  });

  it("may reject: the model reads the reason", async () => {
    const { llm, deleted, builder } = asking(deletion("/a"));
    await builder
      .onApproval(() => ({ reject: "It is still needed." }))
      .build()
      .run();
    expect(deleted).toEqual([]);
    expect(contents(llm)).toEqual(["A human rejected this call: It is still needed."]);
  });

  it("may change the arguments: the model reads the change", async () => {
    const { llm, deleted, builder } = asking(deletion("/a"));
    const engine = builder.onApproval(async () => ({ approve: { path: "/b" } })).build();
    await engine.run();
    expect(deleted).toEqual(["/b"]);
    expect(contents(llm)).toEqual(['A human changed the arguments to {"path":"/b"}.\ndeleted /b']);
    expect(movesOf(engine)).toContain("WaitingForHuman HumanModified Acting");
    expect(engine.state.toolCalls["call_1"]).toMatchObject({
      parameters: '{"path":"/b"}',
      original: '{"path":"/a"}',
    });
  });

  it("that throws rejects", async () => {
    const { llm, deleted, builder } = asking(deletion("/a"));
    await builder
      .onApproval(() => {
        throw new Error("The pager is down.");
      })
      .build()
      .run();
    expect(deleted).toEqual([]);
    expect(contents(llm)).toEqual(["Not run. The reviewer gave no valid decision."]);
  });

  it("passes the approver to the tool", async () => {
    const llm = new MockLlmCaller([callsTools([{ name: "pay" }]), answers(answer)]);
    const approvers: (string | undefined)[] = [];
    const pay = defineTool({
      name: "pay",
      description: "Pays.",
      approval: "always",
      input: z.object({}),
      execute: (_, { approvedBy }) => void approvers.push(approvedBy),
    });
    await new AgentBuilder(task)
      .llm(llm)
      .tool(pay)
      .onApproval(() => "approve")
      .build()
      .run();
    expect(approvers).toEqual(["host"]);
  });
});

describe("a changed call", () => {
  it("is validated against the schema again", async () => {
    const { llm, deleted, builder } = asking(deletion("/a"));
    await builder
      .onApproval(() => ({ approve: { path: 7 } }))
      .build()
      .run();
    expect(deleted).toEqual([]);
    expect(contents(llm)).toEqual(["Not run. The reviewer gave no valid decision."]);
  });

  it("is checked against the current blacklist", async () => {
    const { llm, deleted, builder } = asking(deletion("/a"));
    const session = startSession(builder.build().agent);
    for await (const event of session.ask(task)) {
      if (event.type !== "ApprovalRequested") continue;
      await session.configure({ toolCalls: { blacklist: ["delete_file"] } });
      await session.decide(event, { approve: { path: "/b" } });
    }
    expect(deleted).toEqual([]);
    expect(contents(llm)).toEqual(["The tool delete_file is not allowed here and was not run."]);
  });
});

describe("a policy", () => {
  it("asks about each call of a batch separately, while the others run", async () => {
    const { llm, deleted, builder } = asking(deletion("/a"), weatherIn("Oslo"), deletion("/b"));
    const engine = builder
      .onApproval(({ parameters }) =>
        JSON.stringify(parameters) === '{"path":"/b"}' ? "approve" : { reject: "Keep it." },
      )
      .build();
    await engine.run();
    expect(deleted).toEqual(["/b"]);
    expect(contents(llm)).toEqual([
      "A human rejected this call: Keep it.",
      '{"city":"Oslo","celsius":3}',
      "deleted /b",
    ]);
  });

  it.each<[string, Parameters<AgentBuilder["approvalPolicy"]>[0], readonly string[]]>([
    ["never", "never", []],
    ["always", "always", ["weather", "delete_file"]],
    ["above its risk", { above: "low" }, ["weather", "delete_file"]],
    ["at its risk", { above: "high" }, ["delete_file"]],
    ["above all risks", { above: "critical" }, []],
    ["by name", { tools: ["weather"] }, ["weather"]],
    ["by a function", ({ parameters }) => parameters.includes("Oslo"), ["weather"]],
    ["by a function that answers later", async ({ name }) => name !== "weather", ["delete_file"]],
    ["by a function that throws", broken, ["weather", "delete_file"]],
  ])("asks %s", async (_, policy, expected) => {
    const { builder } = asking(weatherIn("Oslo"), deletion("/a"));
    const asked: string[] = [];
    const approve = ({ name }: Question): Decision => {
      asked.push(name);
      return "approve";
    };
    await builder.approvalPolicy(policy).onApproval(approve).build().run();
    expect(asked).toEqual(expected);
  });

  it("does not ask about calls that cannot run", async () => {
    const { llm, builder } = asking({ name: "wether" }, { name: "delete_file", arguments: { path: 7 } });
    const engine = builder.approvalPolicy("always").build();
    await engine.run();
    expect(movesOf(engine).join()).not.toContain("WaitingForHuman");
    expect(contents(llm)).toEqual([
      expect.stringContaining("no tool wether"),
      expect.stringMatching(/^path: /),
    ]);
  });
});

function broken(): boolean {
  throw new Error("no policy");
}

describe("an approval in a stream", () => {
  it("waits for the consumer of the events", async () => {
    const { deleted, builder } = asking(deletion("/a"), deletion("/b"));
    const engine = builder.build();
    const seen: string[] = [];
    for await (const event of engine.runStreaming()) {
      seen.push(event.type);
      if (event.type === "ApprovalRequested")
        await event.decide(event.toolCallId === "call_1" ? "approve" : { reject: "No." }, "ada");
    }
    expect(deleted).toEqual(["/a"]);
    expect(seen.filter((type) => type === "ApprovalRequested")).toHaveLength(2);
    expect(engine.state.toolCalls["call_1"]?.decision).toMatchObject({ type: "approved", by: "ada" });
    expect(engine.state.toolCalls["call_2"]?.decision).toMatchObject({ type: "rejected", by: "ada" });
  });

  it("is decided by onApproval if there is one", async () => {
    const { deleted, builder } = asking(deletion("/a"));
    const events = await eventsOf(builder.onApproval(() => "approve").build());
    expect(deleted).toEqual(["/a"]);
    expect(events.at(-1)).toMatchObject({ type: "FinalAnswer", text: answer });
  });

  it("accepts only the first decision", async () => {
    const { deleted, builder } = asking(deletion("/a"));
    const receipts: unknown[] = [];
    for await (const event of builder.build().runStreaming()) {
      if (event.type === "ApprovalRequested")
        receipts.push(await event.decide({ reject: "No." }), await event.decide("approve"));
    }
    expect(deleted).toEqual([]);
    expect(receipts).toMatchObject([
      { status: "accepted" },
      { status: "ignored", reason: "already-decided", decidedBy: "user" },
    ]);
  });
});
