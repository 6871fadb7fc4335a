import { inspect } from "node:util";
import { LogError, memoryLog } from "@moora/event-log";
import { answers, fails, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  AgentError,
  agentTool,
  askHuman,
  BuildError,
  defineAgent,
  defineTool,
  InputRefused,
  MooraError,
  openSession,
  runTask,
  SessionError,
  startSession,
  ToolRegistry,
  toolReply,
  type Agent,
  type AgentEvent,
} from "../src/index.ts";
import { failureOf } from "./support.ts";
import { graphOf } from "@moora/testbed/graph-of";

const secret = "The password is swordfish.";

const failing = (): Agent =>
  defineAgent({
    llm: new MockLlmCaller([fails("auth", { message: "bad key", usage: { inputTokens: 7 } })]),
    systemPrompt: secret,
  });

const thrownBy = (call: () => unknown): unknown => {
  try {
    return call();
  } catch (error) {
    return error;
  }
};

const failed = async (): Promise<AgentError> => {
  const error = await failureOf(runTask(failing(), secret));
  if (error instanceof AgentError) return error;
  throw new Error("It is not an AgentError.");
};

describe("an AgentError that is logged or sent", () => {
  it("is JSON of its name, kind, reason, message and usage, and holds nothing of the conversation", async () => {
    const error = await failed();
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: "AgentError",
      kind: "LlmError",
      reason: "auth",
      message: "bad key",
      usage: expect.objectContaining({ inputTokens: 7 }),
    });
    expect(JSON.stringify(error)).not.toContain("swordfish");
  });

  it.each<[string, Partial<Parameters<typeof defineAgent>[0]>]>([
    ["the loop ended without an answer that fits", { config: { retries: { maxAnswerRetries: 0 } } }],
    [
      "a handler ended the loop with an answer that does not fit",
      {
        config: {
          graph: graphOf({ Planning: { AnswerInvalid: "Check" }, Check: { Fine: "Done" } }),
        },
        states: { Check: () => "Fine" },
      },
    ],
  ])("does not quote the last answer in its JSON where %s", async (_, options) => {
    const llm = new MockLlmCaller(() => answers(secret));
    const agent = defineAgent({ ...options, llm, answer: z.object({ a: z.number() }) });
    const error = await failureOf(runTask(agent, "q"));
    expect(error).toMatchObject({ reason: "AnswerInvalid", message: expect.stringContaining("swordfish") });
    expect(JSON.stringify(error)).toMatch(/the answer does not fit its schema\."/i);
    expect(JSON.stringify(error)).not.toContain("swordfish");
    expect(inspect(error)).not.toContain("swordfish");
    const read = await failureOf(agent.answerOf(secret));
    expect(JSON.stringify(read)).not.toContain("swordfish");
  });

  it("gives the message of its cause, and nothing else of it", () => {
    const cause = Object.assign(new Error("disk full"), { body: secret });
    const error = new AgentError("MemoryError", "The log cannot be written.", { cause });
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({ cause: "disk full" });
    expect(inspect(error)).toContain("disk full");
    expect(inspect(error)).not.toContain("swordfish");
  });

  it("is shown by console.log with its kind, and without the conversation", async () => {
    const text = inspect(await failed(), { depth: null });
    expect(text).toMatch(/^AgentError: bad key/);
    expect(text).toContain("kind: 'LlmError'");
    expect(text).toContain("inputTokens: 7");
    expect(text).not.toContain("swordfish");
  });

  it("is not given away by its own enumerable fields, and its state and trace can be read", async () => {
    const error = await failed();
    expect(JSON.stringify(Object.assign({}, error))).not.toContain("swordfish");
    expect(error.state?.config.systemPrompt).toBe(secret);
    expect(error.trace.length).toBe(2);
  });

  it("is what an Error event becomes as JSON", async () => {
    const events: AgentEvent[] = [];
    for await (const event of runTask(failing(), secret)) events.push(event);
    const text = JSON.stringify(events.at(-1));
    expect(JSON.parse(text)).toMatchObject({ type: "Error", error: { message: "bad key" } });
    expect(text).not.toContain("swordfish");
  });
});

describe("every error of this package", () => {
  it("is a MooraError with a stable code", async () => {
    const agent = defineAgent({ llm: new MockLlmCaller([answers("Hi.")]) });
    const session = startSession(agent);
    const errors = [
      await failed(),
      await failureOf(session.dispatch({ type: "nonsense" })),
      await failureOf(openSession(agent, { log: memoryLog(), id: "ada", access: "read" })),
    ];
    expect(errors).toEqual([expect.any(AgentError), expect.any(InputRefused), expect.any(SessionError)]);
    expect(errors.map((error) => error instanceof MooraError && error.code)).toEqual([
      "LlmError",
      "unknown-type",
      "SessionUnknown",
    ]);
  });

  it.each<[string, () => unknown]>([
    ["defineTool", () => defineTool(JSON.parse('{ "name": "pay" }'))],
    ["defineAgent", () => defineAgent(JSON.parse("{}"))],
    ["askHuman", () => askHuman({ name: "a name" })],
    ["agentTool", () => agentTool(JSON.parse("{}"), { name: "ask", description: "Asks." })],
    ["toolReply", () => toolReply(JSON.parse('{ "content": 7 }'))],
    ["ToolRegistry.register", () => new ToolRegistry().register(JSON.parse("{}"))],
    ["runTask", () => runTask(JSON.parse("{}"), "Hello.")],
  ])("is the same BuildError from %s as from all others: a MooraError with kind and code", (_, define) => {
    const error = thrownBy(define);
    expect(error).toBeInstanceOf(BuildError);
    expect(error).toBeInstanceOf(AgentError);
    expect(error).toBeInstanceOf(MooraError);
    expect(error).toMatchObject({ name: "BuildError", kind: "BuildError", code: "BuildError" });
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: "BuildError",
      kind: "BuildError",
      reason: "BuildError",
      message: expect.any(String),
    });
  });

  it("is JSON of its name, code and message, and of what it is about", () => {
    const busy = new SessionError("SessionBusy", "It is run by ada.", { owner: "ada", until: 7 });
    expect(JSON.parse(JSON.stringify(busy))).toEqual({
      name: "SessionError",
      code: "SessionBusy",
      message: "It is run by ada.",
      owner: "ada",
      until: 7,
    });
    const refused = new InputRefused({ code: "wrong-shape", path: "content", message: "Not a text." });
    expect(JSON.parse(JSON.stringify(refused))).toEqual({
      name: "InputRefused",
      code: "wrong-shape",
      message: "content: Not a text.",
      path: "content",
    });
    expect(new LogError("LogWrite", "disk full").code).toBe("LogWrite");
  });
});

describe("the stack of an error names the code that asked", () => {
  const stackOf = async (promise: PromiseLike<unknown>): Promise<string> =>
    ((await failureOf(promise)) as Error).stack ?? "";
  const header = /^AgentError: bad key\n {4}at /;

  it("for a task", async () => {
    const refundOrder = async (): Promise<unknown> => await runTask(failing(), "hi");
    const stack = await stackOf(refundOrder());
    expect(stack).toMatch(header);
    expect(stack).toContain("refundOrder");
    expect(stack).toContain("agent-error.test.ts");
  });

  it("for a message of a session, in memory and in a log, and for each of several", async () => {
    const sessions = [startSession(failing()), await openSession(failing(), { log: memoryLog(), id: "ada" })];
    for (const session of sessions) {
      const askFirst = (): PromiseLike<unknown> => session.ask("hi");
      const askSecond = (): PromiseLike<unknown> => session.ask("ho");
      const [first, second] = [askFirst(), askSecond()];
      const stack = await stackOf(first);
      expect(stack).toMatch(header);
      expect(stack).toContain("askFirst");
      expect(await stackOf(second)).toContain("askSecond");
      await session.close();
    }
  });
});
