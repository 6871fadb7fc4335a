import { memoryLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller, type MockScript } from "@moora/llm/testing";
import { TestClock } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import {
  agentTool,
  defineAgent,
  defineTool,
  openSession,
  readSession,
  runTask,
  startSession,
  type Agent,
  type AgentEvent,
  type AgentToolOptions,
  type Question,
  type Session,
  type SubAgentEvent,
  type Tool,
} from "../../src/index.ts";
import { failureOf, settled, toolOf } from "../support.ts";

const agentOf = (script: MockScript, tools: readonly Tool[] = [], name = "agent"): Agent =>
  defineAgent({ name, llm: new MockLlmCaller(script), tools });

const delegates = (...names: readonly string[]) =>
  callsTools(names.map((name) => ({ name, arguments: { task: `Do ${name}.` } })));

/** The calls of `pay`, by account. */
type Paid = string[];

/** An agent that asks for an approval before it pays from an account. */
const payer = (paid: Paid, account: string): Agent =>
  agentOf(
    () =>
      paid.includes(account)
        ? answers(`Paid from ${account}.`)
        : callsTools([{ name: "pay", arguments: { account } }]),
    [
      toolOf("pay", (input) => paid.push(String(input["account"])) && "paid", {
        approval: "always",
        replay: "keyed",
      }),
    ],
    account,
  );

const asTool = (agent: Agent, name: string, more: Partial<AgentToolOptions> = {}): Tool =>
  agentTool(agent, { name, description: `Does ${name}.`, ...more });

const rest = async (): Promise<void> => {
  for (let turn = 0; turn < 12; turn += 1) await settled();
};

const only = (questions: readonly Question[]): Question => {
  const [question] = questions;
  if (question === undefined || questions.length > 1)
    throw new Error(`Expected one question, got ${questions.length}.`);
  return question;
};

/** A session whose agent asks each of these tools once, in one turn. */
const asking = (tools: readonly Tool[]): Session => {
  const session = startSession(
    agentOf([delegates(...tools.map(({ name }) => name)), answers("Done.")], tools),
  );
  session.onError(() => undefined);
  void session.ask("Start.").catch(() => undefined);
  return session;
};

describe("a question of a sub-agent", () => {
  it("is a question of the session that calls it, with the path of calls, and is answered there", async () => {
    const paid: Paid = [];
    const session = asking([asTool(payer(paid, "main"), "pay_bill")]);
    await rest();
    const question = only(session.questions());
    expect(question).toMatchObject({
      name: "pay",
      about: "approval",
      toolCallId: "call_1",
      path: ["call_1"],
    });
    expect(paid).toEqual([]);
    expect(await session.decide(question, "approve", "ann")).toMatchObject({ status: "accepted" });
    await rest();
    expect(paid).toEqual(["main"]);
    expect(session.questions()).toEqual([]);
    expect(session.current().toolCalls["call_1"]?.result).toMatchObject({ content: "Paid from main." });
  });

  it("reaches the top from any depth, and its decision goes down", async () => {
    const paid: Paid = [];
    const inner = asTool(payer(paid, "deep"), "inner");
    const middle = agentOf([delegates("inner"), answers("Done.")], [inner]);
    const session = asking([asTool(middle, "middle")]);
    await rest();
    const question = only(session.questions());
    expect(question.path).toEqual(["call_1", "call_1"]);
    await session.decide(question, { reject: "Not today." });
    await rest();
    expect(paid).toEqual([]);
    expect(session.questions()).toHaveLength(1);
    await session.decide(only(session.questions()), "approve");
    await rest();
    expect(paid).toEqual(["deep"]);
  });

  it("is answered in the session that asked it, and in no other one", async () => {
    const paid: Paid = [];
    const session = asking([asTool(payer(paid, "a"), "first"), asTool(payer(paid, "b"), "second")]);
    await rest();
    const [first, second] = session.questions();
    if (first === undefined || second === undefined) throw new Error("Expected two questions.");
    expect([first.toolCallId, second.toolCallId]).toEqual(["call_1", "call_1"]);
    // The path of one with the digest of the other: neither is answered.
    expect(await session.decide({ ...second, path: ["call_1"] }, "approve")).toMatchObject({
      status: "ignored",
      reason: "digest-mismatch",
    });
    const { path: _, ...withoutPath } = second;
    expect(await session.decide(withoutPath, "approve")).toMatchObject({ status: "ignored" });
    expect(paid).toEqual([]);
    await session.decide(second, "approve");
    await rest();
    expect(paid).toEqual(["b"]);
    expect(only(session.questions())).toMatchObject({ path: ["call_1"] });
    await session.cancel();
  });

  it("of two agents that one call runs is identified by its digest", async () => {
    const paid: Paid = [];
    const tools = [asTool(payer(paid, "a"), "first"), asTool(payer(paid, "b"), "second")];
    const both = toolOf("both", async (_, context) => {
      await Promise.all(tools.map(async (tool) => await tool.run('{"task":"Pay."}', context)));
      return "done";
    });
    const session = asking([both]);
    await rest();
    const [, second] = session.questions();
    if (second === undefined) throw new Error("Expected two questions.");
    await session.decide(second, "approve");
    await rest();
    expect(paid).toEqual(["b"]);
    await session.cancel();
  });

  it("of one of two agents that one call runs is refused there, if the decision is about something else", async () => {
    const paid: Paid = [];
    const works = agentOf([callsTools([{ name: "work" }])], [toolOf("work", () => new Promise(() => {}))]);
    const tools = [asTool(works, "first"), asTool(payer(paid, "b"), "second")];
    const both = toolOf("both", async (_, context) => {
      await Promise.all(tools.map(async (tool) => await tool.run('{"task":"Pay."}', context)));
      return "done";
    });
    const session = asking([both]);
    await rest();
    const question = only(session.questions());
    expect(await session.decide({ ...question, digest: "other" }, "approve")).toMatchObject({
      status: "ignored",
      reason: "digest-mismatch",
    });
    await session.decide(question, "approve");
    await rest();
    expect(paid).toEqual(["b"]);
    await session.cancel();
  });

  it("has a clear receipt where its sub-agent does not run", async () => {
    const session = asking([asTool(payer([], "main"), "pay_bill")]);
    await rest();
    const question = only(session.questions());
    await session.cancel();
    await rest();
    expect(session.questions()).toEqual([]);
    expect(await session.decide(question, "approve")).toEqual({ status: "ignored", reason: "no-sub-agent" });
    const wrongPath = JSON.parse('{"toolCallId":"a","digest":"b","path":"call_1"}');
    expect(await failureOf(session.decide(wrongPath, "approve"))).toMatchObject({ path: "question.path" });
  });

  it("is answered by onApproval of its tool, before that of the session", async () => {
    const seen: string[] = [];
    const run = async (more: Partial<AgentToolOptions>): Promise<Paid> => {
      const paid: Paid = [];
      const agent = agentOf(
        [delegates("pay_bill"), answers("Done.")],
        [asTool(payer(paid, "main"), "pay_bill", more)],
      );
      await runTask(agent, "Start.", {
        onApproval: (question) => {
          seen.push((question.path ?? []).join("/"));
          return "approve";
        },
      });
      return paid;
    };
    expect(await run({})).toEqual(["main"]);
    expect(seen).toEqual(["call_1"]);
    expect(await run({ onApproval: () => "approve" })).toEqual(["main"]);
    expect(seen).toEqual(["call_1"]);
  });

  it("is reported where nothing shows it", async () => {
    const session = startSession(
      agentOf([delegates("pay_bill"), answers("Done.")], [asTool(payer([], "main"), "pay_bill")]),
    );
    const report = new Promise((resolve) => void session.onError(resolve));
    await session.send("Start.");
    expect(await report).toMatchObject({ source: "question", error: { code: "QuestionUnseen" } });
    await session.cancel();
  });

  it("stops the time of the call that runs the sub-agent", async () => {
    const clock = new TestClock(1_000);
    const paid: Paid = [];
    const tool = asTool(payer(paid, "main"), "pay_bill", { clock, timeoutMs: 1_000 });
    const session = startSession(agentOf([delegates("pay_bill"), answers("Done.")], [tool]), { clock });
    session.onEvent(() => undefined);
    await session.send("Start.");
    await rest();
    await clock.advanceAsync(86_400_000);
    await rest();
    await session.decide(only(session.questions()), "approve");
    await rest();
    expect(paid).toEqual(["main"]);
    expect(session.current().reActContext.control.type).toBe("Done");
    expect(clock.waiting).toBe(0);
  });
});

describe("the events of a sub-agent", () => {
  it("reach the listeners of the caller, with the path of calls, and not its log", async () => {
    const log = memoryLog();
    const inner = asTool(
      agentOf([callsTools([{ name: "look" }]), answers("Seen.")], [toolOf("look")]),
      "inner",
    );
    const middle = agentOf([delegates("inner"), answers("Done.")], [inner]);
    const lead = agentOf([delegates("middle"), answers("All done.")], [asTool(middle, "middle")]);
    const session = await openSession(lead, { log, id: "ada" });
    const events: SubAgentEvent[] = [];
    session.onEvent((event: AgentEvent) => {
      if (event.type === "SubAgentEvent") events.push(event);
    });
    await session.ask("Start.");
    await session.close();
    const started = events.filter(({ event }) => event.type === "ToolCallStarted");
    expect(started.map(({ path, event }) => [path, event.type === "ToolCallStarted" && event.name])).toEqual([
      [["call_1"], "inner"],
      [["call_1", "call_1"], "look"],
    ]);
    expect(events.filter(({ event }) => event.type === "FinalAnswer").map(({ path }) => path.length)).toEqual(
      [2, 1],
    );
    const { inputs } = await readSession(log, "ada");
    expect(inputs.filter(({ type }) => type === "user-message-received")).toHaveLength(1);
    expect(JSON.stringify(inputs)).not.toContain('"look"');
  });
});

describe("sub-agents that call each other", () => {
  /** A tool that runs an agent which has this tool. */
  const recursive = (maxDepth: number | undefined, depths: number[]): Tool => {
    const tool: Tool = defineTool({
      name: "again",
      description: "Runs itself.",
      input: { type: "object", properties: { task: { type: "string" } } },
      async execute(_, context) {
        depths.push(depths.length + 1);
        const agent = agentOf([delegates("again"), answers("Done.")], [tool]);
        const outcome = await asTool(agent, "again", maxDepth === undefined ? {} : { maxDepth }).run(
          '{"task":"x"}',
          context,
        );
        return outcome.isSuccess ? outcome.content : outcome.error;
      },
    });
    return tool;
  };

  it.each([
    [undefined, 9],
    [2, 3],
  ])("are bounded: with maxDepth %s call number %s fails", async (maxDepth, calls) => {
    const depths: number[] = [];
    await runTask(agentOf([delegates("again"), answers("Done.")], [recursive(maxDepth, depths)]), "Start.");
    expect(depths).toHaveLength(calls);
  });

  it("refuse a depth that is not a positive integer", () => {
    expect(() => asTool(agentOf([]), "x", { maxDepth: 0 })).toThrow(
      /maxDepth must be a positive integer, got 0/,
    );
  });
});

describe("a question of a sub-agent in a log", () => {
  it("is found again by the next process, which answers it", async () => {
    const log = memoryLog();
    const paid: Paid = [];
    const newLead = (): Agent =>
      agentOf(
        ({ messages }) => (messages.length > 1 ? answers("Done.") : delegates("pay_bill")),
        [asTool(payer(paid, "main"), "pay_bill", { log })],
        "lead",
      );
    const first = await openSession(newLead(), { log, id: "ada" });
    first.onEvent(() => undefined);
    await first.send("Start.");
    await rest();
    const asked = only(first.questions());
    await first.close();

    await using second = await openSession(newLead(), { log, id: "ada" });
    const shown: SubAgentEvent[] = [];
    second.onEvent((event) => {
      if (event.type === "SubAgentEvent" && event.event.type === "ApprovalRequested") shown.push(event);
    });
    await rest();
    const found = only(second.questions());
    expect(found).toEqual(asked);
    expect(shown).toHaveLength(1);
    expect(await second.decide(asked, "approve", "ann")).toMatchObject({ status: "accepted" });
    await rest();
    expect(paid).toEqual(["main"]);
    const childId = (await log.list()).map(({ id }) => id).find((id) => id.startsWith("pay_bill-")) ?? "";
    const decided = (await readSession(log, childId)).inputs.filter(
      ({ type }) => type === "tool-call-decided",
    );
    expect(decided).toMatchObject([{ by: "ann" }]);
    const ofCaller = (await readSession(log, "ada")).inputs.map(({ type }) => type);
    expect(ofCaller).not.toContain("tool-call-decided");
  });

  it("is answered by another process, which posts to the log of the sub-agent, and not by one that reads", async () => {
    const log = memoryLog();
    const paid: Paid = [];
    const newLead = (): Agent => {
      const inner = asTool(payer(paid, "main"), "inner", { log });
      const middle = agentOf(
        ({ messages }) => (messages.length > 1 ? answers("Done.") : delegates("inner")),
        [inner],
        "middle",
      );
      const tool = asTool(middle, "middle", { log });
      return agentOf(
        ({ messages }) => (messages.length > 1 ? answers("Done.") : delegates("middle")),
        [tool],
        "lead",
      );
    };
    await using owner = await openSession(newLead(), { log, id: "ada" });
    owner.onEvent(() => undefined);
    const run = owner.ask("Start.");
    await rest();
    const asked = only(owner.questions());
    expect(asked.path).toEqual(["call_1", "call_1"]);

    await using reader = await openSession(newLead(), { log, id: "ada", access: "read" });
    expect(await failureOf(reader.decide(asked, "approve"))).toMatchObject({ code: "ReadOnly" });
    await using poster = await openSession(newLead(), { log, id: "ada", access: "post" });
    const wrong = { ...asked, path: ["call_1"] };
    expect(await poster.decide(wrong, "approve")).toMatchObject({ status: "ignored" });
    expect(await poster.decide({ ...asked, path: ["call_9"] }, "approve")).toMatchObject({
      reason: "no-sub-agent",
    });
    expect(await poster.decide(asked, "approve", "bob")).toMatchObject({ status: "accepted" });
    await run;
    expect(paid).toEqual(["main"]);
    expect(await poster.decide(asked, "approve", "bob")).toMatchObject({
      status: "ignored",
      reason: "already-decided",
      decidedBy: "bob",
    });
  });
});
