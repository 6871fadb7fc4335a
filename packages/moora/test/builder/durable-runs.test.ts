import { defineTool, openSession, type Tool } from "@moora/agent";
import { LogError, memoryLog, type EventLog, type LogErrorCode } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { AgentBuilder } from "../../src/builder/agent-builder.ts";
import { answer, errorOf, eventsOf, movesOf, task, thrownBy } from "./support/runs.ts";

const input = { type: "object", properties: {} } as const;

/** A tool that does not end the first time it runs. */
function brokenOff(replay: "keyed" | "once") {
  const keys: string[] = [];
  const runs = Promise.withResolvers<void>();
  const tool: Tool = defineTool({
    name: "pay",
    description: "Pays.",
    input,
    replay,
    execute(_, { idempotencyKey }) {
      keys.push(idempotencyKey);
      runs.resolve();
      return keys.length > 1 ? "paid" : new Promise(() => undefined);
    },
  });
  return { tool, keys, runs: runs.promise };
}

/** A task in a log whose host went away in the middle of its tool. */
async function leftOpen(replay: "keyed" | "once") {
  const log = memoryLog();
  const { tool, keys, runs } = brokenOff(replay);
  const llm = new MockLlmCaller([callsTools([{ name: "pay", arguments: {} }]), answers(answer)]);
  const builder = new AgentBuilder(task).llm(llm).tool(tool).log(log).sessionId("ada");
  const host = await openSession(builder.build().agent, { log, id: "ada" });
  await host.send(task);
  await runs;
  await host.close();
  return { builder, keys, llm, log };
}

/** A log that cannot be opened. */
function brokenLog(code: LogErrorCode): EventLog {
  const fail = (): never => {
    throw new LogError(code, `It says ${code}.`);
  };
  return { name: "broken", create: fail, open: fail, list: fail, remove: fail, close: () => undefined };
}

describe("a run in a log", () => {
  it("answers like any other, and is in the log", async () => {
    const log = memoryLog();
    const llm = new MockLlmCaller(() => answers(answer));
    const engine = new AgentBuilder(task).llm(llm).log(log).sessionId("ada").build();
    expect(await engine.run()).toBe(answer);
    expect(engine.currentState()).toBe("Done");
    expect(engine.memory()).toMatchObject({ task, finalAnswer: answer });
    expect(movesOf(engine)).toEqual(["Idle Start Planning", "Planning LlmFinalAnswer Done"]);
    expect(await (await log.open("ada"))?.head()).toBeGreaterThan(3);
  });

  it("has a random session id by default", async () => {
    const log = memoryLog();
    const builder = new AgentBuilder(task).llm(new MockLlmCaller(() => answers(answer))).log(log);
    await builder.build().run();
    await builder.build().run();
    expect(await log.list()).toHaveLength(2);
  });

  it("conflicts with an existing session, unless it resumes", async () => {
    const llm = new MockLlmCaller(() => answers(answer));
    const builder = new AgentBuilder(task).llm(llm).log(memoryLog()).sessionId("ada");
    await builder.build().run();
    expect(await errorOf(builder.build().run())).toMatchObject({ kind: "Conflict", reason: "SessionExists" });
    expect(llm.callCount).toBe(1);
  });

  it("resumes open work: a keyed tool runs again with its key, and no message is sent twice", async () => {
    const { builder, keys, llm } = await leftOpen("keyed");
    const engine = builder.resume().build();
    expect(await engine.run()).toBe(answer);
    expect(new Set(keys).size).toBe(1);
    expect(keys).toHaveLength(2);
    expect(llm.callCount).toBe(2);
    expect(engine.state.messages.map(({ content }) => content)).toEqual([task, answer]);
    expect(movesOf(engine)).toEqual([
      "Idle Start Planning",
      "Planning LlmToolCall Acting",
      "Acting ToolSuccess Observing",
      "Observing Continue Planning",
      "Planning LlmFinalAnswer Done",
    ]);
  });

  it("returns a recorded answer without any work", async () => {
    const llm = new MockLlmCaller(() => answers(answer));
    const builder = new AgentBuilder(task).llm(llm).log(memoryLog()).sessionId("ada").resume();
    expect(await builder.build().run()).toBe(answer);
    const again = builder.build();
    expect(await again.run()).toBe(answer);
    expect(await eventsOf(builder.build())).toMatchObject([{ type: "FinalAnswer", text: answer }]);
    expect(again.trace().length).toBe(2);
    expect(llm.callCount).toBe(1);
  });

  it("is rejected while another host runs it", async () => {
    const { builder, log } = await leftOpen("keyed");
    await using other = await openSession(builder.build().agent, { log, id: "ada", owner: "bob" });
    await other.settled();
    await other.send("And in Rome?");
    const error = await errorOf(builder.resume().build().run());
    expect(error).toMatchObject({ kind: "Conflict", reason: "SessionBusy" });
    expect(error.message).toContain("bob");
  });

  it("can be canceled before its session is open", async () => {
    const engine = new AgentBuilder(task)
      .llm(new MockLlmCaller(() => answers(answer)))
      .log(memoryLog())
      .build();
    const run = engine.run();
    engine.cancel("Not any more.");
    expect(await errorOf(run)).toMatchObject({ kind: "Cancelled" });
  });

  it.each([
    ["LogCorrupt", "LogCorrupt"],
    ["LogRemoved", "Conflict"],
    ["LogWrite", "MemoryError"],
    ["LogBusy", "MemoryError"],
  ] as const)("ends a log's %s as %s", async (code, kind) => {
    const engine = new AgentBuilder(task)
      .llm(new MockLlmCaller(() => answers(answer)))
      .log(brokenLog(code))
      .build();
    expect(await errorOf(engine.run())).toMatchObject({ kind, reason: code, message: `It says ${code}.` });
  });

  it("needs a log", () => {
    const builder = new AgentBuilder(task).llm(new MockLlmCaller(() => answers(answer)));
    expect(thrownBy(() => builder.sessionId("ada").build())).toMatchObject({ kind: "BuildError" });
    expect(thrownBy(() => builder.resume().build())).toMatchObject({ kind: "BuildError" });
  });
});
