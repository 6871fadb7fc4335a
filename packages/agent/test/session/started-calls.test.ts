import { memoryLog, type EventLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import {
  defineAgent,
  openSession,
  startSession,
  type Agent,
  type AgentEvent,
  type DurableSession,
  type Session,
} from "../../src/index.ts";
import { settled, toolOf } from "../support.ts";

/** An agent whose tool `pay` runs until the test lets it end. */
function payingAgent() {
  const runs: PromiseWithResolvers<string>[] = [];
  const pay = toolOf(
    "pay",
    () => {
      const run = Promise.withResolvers<string>();
      runs.push(run);
      return run.promise;
    },
    { replay: "keyed" },
  );
  const llm = new MockLlmCaller(({ messages }) =>
    messages.some(({ role }) => role === "assistant")
      ? answers("Done.")
      : callsTools([{ name: "pay", arguments: { of: 1 } }]),
  );
  const agent = defineAgent({ llm, tools: [pay] });
  const endRun = (): void => runs.at(-1)?.resolve("paid");
  const runsBegin = (count: number) => untilPasses(() => expect(runs).toHaveLength(count));
  return { agent, endRun, runsBegin };
}

type Paying = ReturnType<typeof payingAgent>;

/** A log with a session "ada" that was closed while its call ran. */
async function interrupted({ agent, runsBegin }: Paying): Promise<EventLog> {
  const log = memoryLog();
  const session = await openSession(agent, { log, id: "ada" });
  await session.send("Pay.");
  await runsBegin(1);
  await session.close();
  return log;
}

const open = (agent: Agent, log: EventLog): Promise<DurableSession> => openSession(agent, { log, id: "ada" });

const heardBy = (session: Session): AgentEvent["type"][] => {
  const types: AgentEvent["type"][] = [];
  session.onEvent(({ type }) => void types.push(type));
  return types;
};

const callEvents = (types: readonly AgentEvent["type"][]): readonly AgentEvent["type"][] =>
  types.filter((type) => type.startsWith("ToolCall"));

const once = ["ToolCallStarted", "ToolCallFinished"];

describe("a call that a crash interrupted and that the opening starts again", () => {
  it("begins the events of a listener, once", async () => {
    const paying = payingAgent();
    await using session = await open(paying.agent, await interrupted(paying));
    const types = heardBy(session);
    await paying.runsBegin(2);
    const late = heardBy(session);
    await settled();
    paying.endRun();
    await session.settled();
    expect(callEvents(types)).toEqual(once);
    expect(callEvents(late)).toEqual(once);
  });

  it("begins the events of each iterator over running(), once", async () => {
    const paying = payingAgent();
    await using session = await open(paying.agent, await interrupted(paying));
    const run = session.running();
    if (run === undefined) throw new Error("Nothing runs.");
    const typesOf = async () => {
      const types: AgentEvent["type"][] = [];
      for await (const { type } of run) types.push(type);
      return types;
    };
    const all = [typesOf(), typesOf()];
    await paying.runsBegin(2);
    all.push(typesOf());
    paying.endRun();
    for (const types of await Promise.all(all)) expect(callEvents(types)).toEqual(once);
  });

  it("begins the events of a session that only reads, while its owner runs it", async () => {
    const paying = payingAgent();
    const log = memoryLog();
    await using owner = await open(paying.agent, log);
    await owner.send("Pay.");
    await paying.runsBegin(1);
    await using reader = await openSession(paying.agent, { log, id: "ada", access: "read" });
    const types = heardBy(reader);
    await settled();
    expect(types).toEqual(["ToolCallStarted"]);
    paying.endRun();
    await owner.settled();
    await reader.refresh();
    expect(callEvents(types)).toEqual(once);
  });
});

describe("a call that runs in a session in memory", () => {
  it("is reported to the run of its message once, and to a listener and a message that come later", async () => {
    const paying = payingAgent();
    const session = startSession(paying.agent);
    const early = heardBy(session);
    const first = session.ask("Pay.");
    await paying.runsBegin(1);
    const late = heardBy(session);
    const second = session.ask("Hurry.");
    await settled();
    paying.endRun();
    const [ofFirst, ofSecond]: [AgentEvent["type"][], AgentEvent["type"][]] = [[], []];
    for await (const { type } of first) ofFirst.push(type);
    for await (const { type } of second) ofSecond.push(type);
    for (const types of [early, late, ofFirst, ofSecond]) expect(callEvents(types)).toEqual(once);
  });

  it("is over for listeners that begin at its result or after it", async () => {
    const paying = payingAgent();
    const session = startSession(paying.agent);
    const added: AgentEvent["type"][][] = [];
    session.onEvent(({ type }) => {
      if (type.startsWith("ToolCall")) added.push(heardBy(session));
    });
    const run = session.ask("Pay.");
    await paying.runsBegin(1);
    paying.endRun();
    await run;
    const after = heardBy(session);
    await settled();
    expect(added.map(callEvents)).toEqual([once, once]);
    expect(after).toEqual([]);
  });
});
