import { memoryLog } from "@moora/event-log";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import {
  agentTool,
  AgentError,
  defineAgent,
  exportSession,
  forkSession,
  openSession,
  runTask,
  SessionError,
  startSession,
  stateAt,
  verifySession,
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
