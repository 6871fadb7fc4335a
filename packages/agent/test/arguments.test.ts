import { memoryLog } from "@moora/event-log";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import {
  agentTool,
  AgentError,
  agentTransition,
  answerTextAt,
  askHuman,
  BuildError,
  decisionProblem,
  decisionToInput,
  defineAgent,
  defineTool,
  diffSessions,
  effectsAt,
  exportSession,
  failureToError,
  forkSession,
  initialStateOf,
  InputRefused,
  openSession,
  performEffect,
  rerunSession,
  runTask,
  SessionError,
  sessionOwner,
  startSession,
  stateAt,
  toolReply,
  traceOf,
  userMessage,
  verifySession,
  type AgentEffect,
  type DurableSession,
} from "../src/index.ts";

const llm = new MockLlmCaller(() => answers("Hi."));
const agent = defineAgent({ llm });

/** A value as hosts without types give it. */
const untyped = (value: unknown) => JSON.parse(JSON.stringify(value ?? null)) ?? undefined;

describe("openSession refuses, with a typed error that says what to give", () => {
  it.each<[string, unknown, string]>([
    ["no options", undefined, "openSession needs an object of options, { log, id }, got undefined."],
    ["no log", { id: "ada" }, "log is missing. Give one, such as memoryLog()"],
    ["a path as log", { id: "ada", log: "x.db" }, 'log must be an event log, got "x.db". Give one'],
    ["an object as log", { id: "ada", log: {} }, "log must be an event log, got an object. Give one"],
  ])("%s", async (_, options, message) => {
    const error: unknown = await openSession(agent, untyped(options)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SessionError);
    expect(error).toMatchObject({ code: "InvalidOption", message: expect.stringContaining(message) });
  });

  it("an unknown access, before anything is written", async () => {
    const log = memoryLog();
    await expect(openSession(agent, { log, id: "ada", access: untyped("writ") })).rejects.toMatchObject({
      code: "InvalidOption",
      message: 'access must be "run", "post" or "read", got "writ".',
    });
    expect(await log.list()).toEqual([]);
  });
});

describe("what looks back at sessions refuses what is not a log", () => {
  it.each([
    () => stateAt(untyped("x.db"), "ada"),
    () => verifySession(untyped("x.db"), "ada"),
    () => exportSession(untyped(undefined), "ada"),
    () => forkSession(untyped({}), "ada", 1, { as: "b", open: "close" }),
  ])("%s", async (look) => {
    await expect(look()).rejects.toMatchObject({
      code: "InvalidOption",
      message: expect.stringMatching(/^log (is missing|must be an event log)/),
    });
  });
});

describe("what needs an agent refuses what defineAgent did not return", () => {
  it.each<[string, (given: ReturnType<typeof untyped>) => unknown]>([
    ["runTask", (given) => runTask(given, "hi")],
    ["startSession", (given) => startSession(given)],
    ["openSession", (given) => openSession(given, { log: memoryLog(), id: "ada" })],
    ["agentTool", (given) => agentTool(given, { name: "ask", description: "Asks." })],
  ])("%s", async (name, call) => {
    const error: unknown = await Promise.resolve(untyped({ llm: {} }))
      .then(call)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AgentError);
    expect(error).toMatchObject({
      kind: "BuildError",
      message: `${name} needs an agent, got an object. Define it with defineAgent({ llm, ... }).`,
    });
  });
});

/** What a call throws, or what its promise rejects with. */
const problemOf = (call: () => unknown): Promise<unknown> =>
  Promise.resolve()
    .then(call)
    .then(
      () => "It was accepted.",
      (reason: unknown) => reason,
    );

describe("a method of a session refuses an argument of the wrong form, with InputRefused and its path", () => {
  const question = { toolCallId: "call_1", digest: "d" };
  const circle: { self?: unknown } = {};
  circle.self = circle;

  it.each<[string, (session: DurableSession) => unknown, string, string]>([
    [
      "decide without the question",
      (session) => session.decide(untyped("call_1"), "approve"),
      "question",
      'must be an object with toolCallId and digest, got "call_1". Pass one of session.questions()',
    ],
    [
      "decide with nothing",
      (session) => Reflect.apply(session.decide, session, []),
      "question",
      "must be an object with toolCallId and digest, got undefined.",
    ],
    [
      "decide with half a question",
      (session) => session.decide(untyped({ toolCallId: "call_1" }), "approve"),
      "question.digest",
      "must be a string, got undefined.",
    ],
    [
      "decide without a decision",
      (session) => session.decide(question, untyped(undefined)),
      "decision",
      'A decision must be "approve", { reject },',
    ],
    [
      "decide with a word that is not a decision",
      (session) => session.decide(question, untyped("yes")),
      "decision",
      'got "yes".',
    ],
    [
      "decide by a number",
      (session) => session.decide(question, "approve", untyped(7)),
      "by",
      "must be a string, got 7.",
    ],
    [
      "settle with nothing",
      (session) => Reflect.apply(session.settle, session, []),
      "toolCallId",
      "must be a string, got undefined.",
    ],
    [
      "settle with text",
      (session) => session.settle("call_1", untyped("paid")),
      "settlement",
      'must be { content } or { error }, got "paid".',
    ],
    [
      "settle with neither content nor error",
      (session) => session.settle("call_1", untyped({ result: "paid" })),
      "settlement",
      "must have content, or error for a call that failed.",
    ],
    [
      "settle with both content and error",
      (session) => session.settle("call_1", untyped({ content: "paid", error: "no" })),
      "settlement",
      "must be { content } or { error }, got both.",
    ],
    [
      "decide with two decisions at once",
      (session) => session.decide(question, untyped({ approve: {}, reject: "no" })),
      "decision",
      "got an object with approve, reject.",
    ],
    [
      "decide with a misspelled decision",
      (session) => session.decide(question, untyped({ aprove: {} })),
      "decision",
      'got an object with aprove. Did you mean "approve"?',
    ],
    [
      "settle with an error that is not text",
      (session) => session.settle("call_1", untyped({ error: 7 })),
      "settlement.error",
      "must be a string, got 7.",
    ],
    [
      "settle with what JSON does not keep",
      (session) => session.settle("call_1", { content: circle }),
      "settlement.content.self",
      "The value contains itself.",
    ],
    ["cancel with a number", (session) => session.cancel(untyped(3)), "reason", "must be a string, got 3."],
    [
      "the cancel of a run with a number",
      (session) => session.ask("Hello.").cancel(untyped(3)),
      "reason",
      "must be a string, got 3.",
    ],
    [
      "send with nothing",
      (session) => Reflect.apply(session.send, session, []),
      "content",
      "must be a string or an object { content, attachments }, got undefined.",
    ],
    [
      "send with an object without content",
      (session) => session.send(untyped({ a: 1 })),
      "content",
      "must be a string or an object { content, attachments }, got an object.",
    ],
    [
      "send with content that is not text",
      (session) => session.send(untyped({ content: 7 })),
      "content.content",
      "must be a string, got 7.",
    ],
    ["onEvent", (session) => session.onEvent(untyped(undefined)), "listener", "got undefined."],
    ["subscribe", (session) => session.subscribe(untyped("x")), "listener", 'must be a function, got "x".'],
    ["onInput", (session) => session.onInput(untyped(undefined)), "listener", "must be a function"],
    ["onError", (session) => session.onError(untyped(undefined)), "listener", "must be a function"],
    ["follow without a listener", (session) => session.follow(0, untyped(undefined)), "listener", "must be"],
    [
      "follow from text",
      (session) => session.follow(untyped("1"), () => undefined),
      "afterSeq",
      'must be a sequence number (an integer of at least 0), got "1".',
    ],
    ["history", (session) => session.history(-1), "afterSeq", "got -1."],
    ["a part of history", (session) => session.history(0, 0), "limit", "must be a positive integer, got 0."],
    [
      "close",
      (session) => session.close(untyped({ graceMs: "1s" })),
      "options.graceMs",
      'must be a non-negative number of milliseconds, got "1s".',
    ],
    [
      "close with a number",
      (session) => session.close(untyped(5)),
      "options",
      "must be an object { graceMs }, got 5.",
    ],
    ["dispatch", (session) => session.dispatch(undefined), "", "JSON does not keep"],
    ["note", (session) => session.note(untyped(7)), "text", "must be a string, got 7."],
    [
      "configure",
      (session) => session.configure(untyped(7)),
      "config",
      "must be an object of fields, got 7.",
    ],
  ])("%s", async (_, call, path, message) => {
    await using session = await openSession(agent, { log: memoryLog(), id: "ada" });
    const error = await problemOf(() => call(session));
    expect(error).toBeInstanceOf(InputRefused);
    expect(error).toMatchObject({ path, message: expect.stringContaining(message) });
    expect(session.questions()).toEqual([]);
  });

  it("userMessage too", () => {
    expect(() => userMessage(untyped(7))).toThrow(InputRefused);
  });
});

describe("a task that cannot be sent rejects with a sentence about the task", () => {
  it.each<[string, unknown, string, string]>([
    [
      "nothing",
      undefined,
      "InputRefused",
      "The task must be a string or an object { content, attachments }, got undefined.",
    ],
    [
      "a number",
      7,
      "InputRefused",
      "The task must be a string or an object { content, attachments }, got 7.",
    ],
    [
      "content that is not text",
      { content: 7 },
      "InputRefused",
      "Invalid task: content.content: must be a string, got 7.",
    ],
    [
      "invalid attachments",
      { content: "a", attachments: 7 },
      "InputRefused",
      "Invalid task: content.attachments: must be a list of files, got 7.",
    ],
    ["blank text", " \n", "blank", "The task must not be blank. Pass text or attachments."],
  ])("%s", async (_, task, reason, message) => {
    const error = await problemOf(() => runTask(agent, untyped(task)));
    expect(error).toBeInstanceOf(AgentError);
    expect(error).toMatchObject({ kind: "AgentFailed", reason, message: expect.stringContaining(message) });
  });

  it("a message of a session is called a message", async () => {
    const session = startSession(agent);
    expect(await problemOf(() => session.ask(untyped(undefined)))).toMatchObject({
      message: "The message must be a string or an object { content, attachments }, got undefined.",
    });
    expect(await problemOf(() => session.ask(""))).toMatchObject({
      message: "The message must not be blank. Pass text or attachments.",
    });
  });
});

describe("options with an unknown name or of the wrong form are refused", () => {
  const options = { log: memoryLog(), id: "ada" };
  const tool = { name: "ask", description: "Asks." };
  it.each<[string, () => unknown, "BuildError" | "InvalidOption", string]>([
    [
      "runTask, far from any name",
      () => runTask(agent, "Hello.", untyped({ qqqq: 1 })),
      "BuildError",
      'Unknown option "qqqq" of runTask. Known options: id, state, clock,',
    ],
    [
      "runTask with text",
      () => runTask(agent, "Hello.", untyped("x")),
      "BuildError",
      'runTask needs an object of options, got "x".',
    ],
    [
      "runTask with a controller instead of its signal",
      () => runTask(agent, "Hello.", untyped({ signal: true })),
      "BuildError",
      "signal must be an AbortSignal, got true.",
    ],
    [
      "runTask with a clock that cannot wait",
      () => runTask(agent, "Hello.", { clock: untyped({}) }),
      "BuildError",
      "clock must be a clock, an object with now() and after(), got an object.",
    ],
    [
      "startSession with what is not a state",
      () => startSession(agent, { state: untyped({}) }),
      "BuildError",
      "state must be the state of an agent, got an object.",
    ],
    [
      "forkSession at text",
      () => forkSession(options.log, "ada", untyped("1"), { as: "b", open: "close" }),
      "InvalidOption",
      'seq must be the number of a record, an integer from 0, got "1".',
    ],
    [
      "rerunSession without options",
      () => Reflect.apply(rerunSession, undefined, [agent, options.log, "ada"]),
      "InvalidOption",
      "rerunSession needs an object of options, got undefined.",
    ],
    [
      "diffSessions",
      () => diffSessions(untyped("a"), untyped("b")),
      "InvalidOption",
      'diffSessions needs an object of options, got "a".',
    ],
    [
      "sessionOwner",
      () => sessionOwner(untyped("x.db"), "ada"),
      "InvalidOption",
      'log must be an event log, got "x.db".',
    ],
    [
      "startSession, wrong form",
      () => startSession(agent, untyped({ onApproval: "always" })),
      "BuildError",
      'onApproval must be a function, got "always".',
    ],
    [
      "openSession, wrong form",
      () => openSession(agent, { ...options, snapshots: untyped("no") }),
      "InvalidOption",
      'snapshots must be true or false, got "no".',
    ],
    [
      "agentTool without options",
      () => Reflect.apply(agentTool, undefined, [agent]),
      "BuildError",
      "agentTool needs an object of options, got undefined.",
    ],
    [
      "agentTool with a path as log",
      () => agentTool(agent, { ...tool, log: untyped("x.db") }),
      "BuildError",
      'log must be an event log, got "x.db".',
    ],
    [
      "forkSession without options",
      () => Reflect.apply(forkSession, undefined, [options.log, "ada", 1]),
      "InvalidOption",
      "forkSession needs an object of options, got undefined.",
    ],
    [
      "forkSession without an id",
      () => forkSession(options.log, "ada", 1, untyped({ open: "close" })),
      "InvalidOption",
      "as is missing. Give the id of the new session.",
    ],
    [
      "forkSession",
      () => forkSession(options.log, "ada", 1, { as: "b", open: untyped("again") }),
      "InvalidOption",
      'open must be "reuse", "rerun" or "close", got "again".',
    ],
  ])("%s", async (_, call, code, message) => {
    const error = await problemOf(call);
    expect(error).toBeInstanceOf(code === "BuildError" ? BuildError : SessionError);
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
  });
});

describe("functions that take a state, an agent or a decision refuse a value of another kind with a typed error", () => {
  const state = initialStateOf(agent);
  const question = { toolCallId: "call_1", digest: "d" };
  const meta = { by: "Ada", timestamp: 1, digestOfChange: () => "d", maxResultLength: 10 };
  const options = { log: memoryLog(), id: "ada" };
  const needsAgent = "needs an agent, got undefined. Define it with defineAgent({ llm, ... }).";
  const needsState = "state must be the state of an agent, got";
  const dispatch = (): boolean => true;
  const sessionId = "one";
  const needsSessionId =
    "performEffect needs sessionId, a string that no other session has: without it, the calls of all sessions have the same " +
    "idempotency keys. Pass identity of a shared session, or an id of your own.";
  const callLlm: AgentEffect = untyped({ type: "call-llm", key: "plan/1/1/1" });
  const asked = agentTransition(userMessage("q"))(state);
  const planning: AgentEffect = untyped(Object.values(effectsAt(asked))[0]);

  it.each<[string, () => unknown, "BuildError" | "InputRefused", string]>([
    [
      "performEffect without an agent",
      () => performEffect(untyped(undefined), callLlm, state, { dispatch, sessionId }),
      "BuildError",
      `performEffect ${needsAgent}`,
    ],
    [
      "performEffect with parts that are not an object",
      () => performEffect(untyped({ parts: 7, runLimits: {} }), callLlm, state, { dispatch, sessionId }),
      "BuildError",
      "performEffect needs an agent, got an object.",
    ],
    [
      "performEffect with text as options",
      () => performEffect(agent, callLlm, state, untyped("x")),
      "BuildError",
      'performEffect needs an object of options, got "x".',
    ],
    [
      "performEffect with a clock that cannot wait",
      () => performEffect(agent, callLlm, state, { dispatch, sessionId, clock: untyped({}) }),
      "BuildError",
      "clock must be a clock, an object with now() and after(), got an object.",
    ],
    [
      "performEffect without sessionId",
      () => performEffect(agent, callLlm, state, { dispatch, ...untyped({}) }),
      "BuildError",
      needsSessionId,
    ],
    [
      "performEffect with an empty sessionId",
      () => performEffect(agent, callLlm, state, { dispatch, sessionId: "" }),
      "BuildError",
      needsSessionId,
    ],
    [
      "performEffect without dispatch",
      () => performEffect(agent, callLlm, state, untyped({})),
      "BuildError",
      "performEffect needs dispatch, a function that returns whether the inputs changed the state.",
    ],
    [
      "performEffect with a dispatch that returns nothing",
      () => performEffect(agent, planning, asked, { sessionId, dispatch: (): boolean => untyped(undefined) }),
      "BuildError",
      "dispatch must return whether the inputs changed the state, true or false, got undefined.",
    ],
    [
      "an effect that is not one",
      () => performEffect(agent, untyped("x"), state, { dispatch, sessionId }),
      "BuildError",
      'effect must be an effect, got "x". Pass one of effectsAt(state).',
    ],
    [
      "an effect without its state",
      () => performEffect(agent, callLlm, untyped(undefined), { dispatch, sessionId }),
      "BuildError",
      `${needsState} undefined.`,
    ],
    [
      "initialStateOf",
      () => initialStateOf(untyped(undefined)),
      "BuildError",
      `initialStateOf ${needsAgent}`,
    ],
    ["answerTextAt", () => answerTextAt(untyped({})), "BuildError", `${needsState} an object.`],
    [
      "failureToError without a failure",
      () => failureToError(untyped(undefined), state, traceOf([])),
      "BuildError",
      "failure must be the failure of a loop, got undefined.",
    ],
    [
      "failureToError without a state",
      () =>
        failureToError(
          { source: "loop", kind: "Cancelled", message: "Stop." },
          untyped(undefined),
          traceOf([]),
        ),
      "BuildError",
      `${needsState} undefined.`,
    ],
    [
      "decisionProblem without parts",
      () => decisionProblem(untyped(undefined), state, "call_1", "approve"),
      "BuildError",
      "parts must be the parts of an agent, got undefined. Pass agent.parts.",
    ],
    [
      "decisionProblem without a state",
      () => decisionProblem(agent.parts, untyped("x"), "call_1", "approve"),
      "BuildError",
      `${needsState} "x".`,
    ],
    [
      "decisionProblem without a call",
      () => decisionProblem(agent.parts, state, untyped(undefined), "approve"),
      "BuildError",
      "toolCallId must be a string, got undefined.",
    ],
    [
      "decisionToInput without a question",
      () => decisionToInput(untyped(undefined), "approve", meta),
      "InputRefused",
      "question: must be an object with toolCallId and digest, got undefined.",
    ],
    [
      "decisionToInput with a word that is not a decision",
      () => decisionToInput(question, untyped("yes"), meta),
      "InputRefused",
      'decision: A decision must be "approve", { reject },',
    ],
    [
      "decisionToInput without a decision",
      () => decisionToInput(question, untyped(undefined), meta),
      "InputRefused",
      "got undefined.",
    ],
    [
      "decisionToInput without its meta",
      () => Reflect.apply(decisionToInput, undefined, [question, "approve"]),
      "InputRefused",
      "meta: must be an object { by, timestamp, digestOfChange, maxResultLength }, got undefined.",
    ],
    [
      "decisionToInput with a time that is text",
      () => decisionToInput(question, "approve", { ...meta, timestamp: untyped("now") }),
      "InputRefused",
      'meta.timestamp: must be a number, got "now".',
    ],
    [
      "userMessage with options that are not an object",
      () => userMessage("Hello.", untyped("x")),
      "InputRefused",
      'options: must be an object { messageId, timestamp }, got "x".',
    ],
    [
      "userMessage with an id that is a number",
      () => userMessage("Hello.", { messageId: untyped(7) }),
      "InputRefused",
      "options.messageId: must be a string, got 7.",
    ],
    [
      "userMessage with a time that is text",
      () => userMessage("Hello.", { timestamp: untyped("now") }),
      "InputRefused",
      'options.timestamp: must be a number, got "now".',
    ],
    [
      "defineTool without options",
      () => defineTool(untyped(undefined)),
      "BuildError",
      "defineTool needs an object of options, got undefined.",
    ],
    [
      "defineAgent with text",
      () => defineAgent(untyped("x")),
      "BuildError",
      'defineAgent needs an object of options, got "x".',
    ],
    [
      "askHuman with text",
      () => askHuman(untyped("x")),
      "BuildError",
      'askHuman needs an object of options, got "x".',
    ],
    [
      "toolReply with text",
      () => toolReply(untyped("x")),
      "BuildError",
      'toolReply needs an object of options, got "x".',
    ],
    [
      "rerunSession without an agent",
      () => rerunSession(untyped(undefined), options.log, "ada", { from: 0 }),
      "BuildError",
      `rerunSession ${needsAgent}`,
    ],
  ])("%s", async (_, call, code, message) => {
    const error = await problemOf(call);
    expect(error).toBeInstanceOf(code === "BuildError" ? BuildError : InputRefused);
    expect(error).toMatchObject({ message: expect.stringContaining(message) });
  });

  it("a decision with arguments that JSON does not keep has the code of its problem", async () => {
    const error = await problemOf(() => decisionToInput(question, { approve: { a: NaN } }, meta));
    expect(error).toBeInstanceOf(InputRefused);
    expect(error).toMatchObject({ code: "not-json", path: "decision.approve.a" });
  });

  it("a value that is not a decision has the code invalid-decision, as in a session", async () => {
    const error = await problemOf(() => decisionToInput(question, untyped("yes"), meta));
    expect(error).toMatchObject({ code: "invalid-decision", path: "decision" });
  });
});
