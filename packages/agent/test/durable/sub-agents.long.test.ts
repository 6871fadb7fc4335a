import { effectsAt } from "@moora/agent-core-effects";
import { isLoopRunning } from "@moora/agent-core-state-machine";
import { memoryLog, MemoryStorage, type EventLog } from "@moora/event-log";
import { fails } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import {
  agentTool,
  defineAgent,
  openSession,
  readSession,
  stateAt,
  verifySession,
  type Agent,
  type AgentState,
  type AgentToolOptions,
  type DurableSession,
  type ErrorListener,
} from "../../src/index.ts";
import { HeardErrors, printErrorsBut } from "@moora/testbed/durable/errors";
import { Counter } from "@moora/testbed/durable/counter";
import { call, calls, countingAgent, scripted, type Script } from "@moora/testbed/durable/counting-agent";
import { driveToEnd } from "@moora/testbed/durable/drive";
import { Died, Life, mortalLog, type Death } from "@moora/testbed/durable/mortal-log";
import { storageOf, storeNames } from "@moora/testbed/durable/places";
import { noting } from "@moora/testbed/durable/processes";
import { Gates, remoteLog } from "@moora/testbed/durable/remote-log";
import { turn, TestClock } from "@moora/testbed/test-clock";

/** Where a caller and its sub-agent live: one log for both, one clock, one world. */
interface House {
  readonly log: EventLog;
  readonly clock: TestClock;
  readonly counter: Counter;
}

/** A process of two lives that end together: one has the log of the caller, the other that of its sub-agent. */
interface Pair {
  readonly caller: Life;
  readonly child: Life;
}

const pairOf = ({ caller, child }: { readonly caller?: Death; readonly child?: Death } = {}): Pair => {
  const lives: Pair = {
    caller: new Life(caller, () => endOf(lives.child)),
    child: new Life(child, () => endOf(lives.caller)),
  };
  return lives;
};

const endOf = (life: Life): void => {
  if (!life.isOver) life.die();
};

const said = { says: ["Have it paid."], decide: () => "approve" as const };
/** A sub-agent that waits for a deed. */
const held: Script = [[{ name: "hold", arguments: { text: "finished" } }]];
const payScript: Script = [[call("pay", 1)], [call("pay", 2), call("look", 3)]];

interface Household {
  /** What the sub-agent does. */
  readonly script?: Script;
  readonly deeds?: ReadonlySet<string>;
  readonly options?: Partial<AgentToolOptions>;
}

/** An agent that has a sub-agent do what its script says, and then answers. */
function callerOf(
  { log, clock, counter }: House,
  { child: life, caller }: Pair,
  { script = payScript, deeds = new Set(), options }: Household,
): Agent {
  const child = countingAgent({ counter, life, deeds }, noting(scripted(script), counter, life));
  const payer = agentTool(child, {
    name: "payer",
    description: "Pays.",
    log: mortalLog(log, life),
    clock: life.clock(clock),
    ...options,
  });
  const asks = calls([{ name: "payer", arguments: { task: "Pay twice." } }]);
  return defineAgent({ name: "caller", llm: noting(scripted([asks]), counter, caller), tools: [payer] });
}

const open = (
  house: House,
  lives: Pair,
  household: Household = {},
  // A dead process cannot use its logs, and one that was left behind notices the next one.
  onError: ErrorListener = printErrorsBut("Died", "StaleWriter"),
): Promise<DurableSession> =>
  openSession(callerOf(house, lives, household), {
    log: mortalLog(house.log, lives.caller),
    id: "ada",
    clock: lives.caller.clock(house.clock),
    isOwnerGone: () => true,
    onError,
  });

/** A process that opens the caller and brings it to its end, unless it dies. */
async function run(house: House, pair: Pair = pairOf(), household: Household = {}): Promise<void> {
  try {
    const session = await open(house, pair, household);
    await driveToEnd(session, said, house.clock, () => pair.caller.isOver);
    if (!pair.caller.isOver) await session.close();
  } catch (error) {
    if (!(error instanceof Died) && !pair.caller.isOver) throw error;
  }
}

const childIdIn = async (log: EventLog): Promise<string> => {
  const ids = (await log.list()).map(({ id }) => id).filter((id) => id !== "ada");
  expect(ids).toEqual([expect.stringMatching(/^payer-/)]);
  return ids[0] ?? "";
};

interface FinalStates {
  readonly caller: AgentState;
  readonly child: AgentState;
  readonly seqs: { readonly caller: number; readonly child: number };
  readonly childId: string;
}

/** The final states of both, from their logs; both are sound. */
async function finalStatesOf({ log }: House): Promise<FinalStates> {
  const childId = await childIdIn(log);
  for (const id of ["ada", childId]) expect(await verifySession(log, id)).toMatchObject({ ok: true });
  const [caller, child] = [await stateAt(log, "ada"), await stateAt(log, childId)];
  return {
    caller: caller.state,
    child: child.state,
    seqs: { caller: caller.seq, child: child.seq },
    childId,
  };
}

/** How many results the caller has recorded. */
const resultsIn = async ({ log }: House): Promise<number> =>
  (await readSession(log, "ada")).inputs.filter(({ type }) => type === "tool-call-completed").length;

/** One result, the same as ever, and every deed of the sub-agent done once. */
async function expectWhole(house: House, whole: FinalStates, asks: number, at: string): Promise<void> {
  const { caller, child } = await finalStatesOf(house);
  const content = whole.child.messages.at(-1)?.content;
  expect(caller.toolCalls["call_1"]?.result, at).toMatchObject({ isSuccess: true, content });
  expect(caller.reActContext.control.type, at).toBe("Done");
  expect(await resultsIn(house), at).toBe(1);
  expect([caller.usage, child.usage], at).toEqual([whole.caller.usage, whole.child.usage]);
  expect(house.counter.effects, at).toBe(3);
  expect(house.counter.badAsks, at).toEqual([]);
  expect(house.counter.asks, at).toBeLessThanOrEqual(asks + 1);
}

const deathsUpTo = (last: number): readonly Extract<Death, { readonly seq: number }>[] =>
  Array.from({ length: last }, (_, index) => index + 1).flatMap((seq) => [
    { seq, when: "before" } as const,
    { seq, when: "after" } as const,
  ]);

/** A house over a fresh storage, and what happens there undisturbed. */
const wholeOf = async (log: EventLog): Promise<{ readonly whole: FinalStates; readonly asks: number }> => {
  using counter = new Counter();
  const house = { log, clock: new TestClock(), counter };
  await run(house);
  expect(counter.effects).toBe(3);
  return { whole: await finalStatesOf(house), asks: counter.asks };
};

describe.each(storeNames)("a sub-agent on %s whose process dies at any instant", (store) => {
  it.each(["child", "caller"] as const)(
    "of the %s: it continues with the same session, and its caller gets one result (I01)",
    async (who) => {
      await using undisturbed = storageOf(store);
      const { whole, asks } = await wholeOf(undisturbed.open());
      for (const death of deathsUpTo(whole.seqs[who])) {
        await using storage = storageOf(store);
        using counter = new Counter();
        const house = { log: storage.open(), clock: new TestClock(), counter };
        const pair = pairOf({ [who]: death });
        const at = `dies ${death.when} record ${death.seq} of the ${who}`;
        await run(house, pair);
        expect(pair.caller.isOver, at).toBe(true);
        await run(house);
        await expectWhole(house, whole, asks, at);
      }
    },
  );
});

/** Waits until nothing can continue without the clock. */
const rest = async (): Promise<void> => {
  for (let turns = 0; turns < 30; turns += 1) await turn();
};

const homely = (counter: Counter): House => ({
  log: memoryLog(new MemoryStorage()),
  clock: new TestClock(),
  counter,
});

describe("a sub-agent in a log", () => {
  it("may die at each of its calls of the log, and with a deed done but not recorded (I01)", async () => {
    const { whole, asks } = await wholeOf(memoryLog(new MemoryStorage()));
    /** Whether the process died: not if it made fewer calls. */
    const diesAt = async (death: Death): Promise<boolean> => {
      using counter = new Counter();
      const house = homely(counter);
      const pair = pairOf({ child: death });
      await run(house, pair);
      await run(house);
      await expectWhole(house, whole, asks, JSON.stringify(death));
      return pair.child.isOver;
    };
    let deaths = 0;
    while (await diesAt({ call: deaths + 1 })) deaths += 1;
    expect(deaths).toBeGreaterThan(10);
    for (const work of [1, 2, 3]) expect(await diesAt({ work }), `work ${work}`).toBe(true);
  });

  it("is a call that a crash runs again, with the same key", () => {
    using counter = new Counter();
    const { tools } = callerOf(homely(counter), pairOf(), {});
    expect(tools["payer"]?.replay).toBe("keyed");
  });

  it("gives its failure again where that is on record, and asks no model", async () => {
    using counter = new Counter();
    const house = homely(counter);
    const household = { script: [fails("auth", { message: "No such key." })] };
    await run(house, pairOf(), household);
    const { seqs, caller } = await finalStatesOf(house);
    expect(caller.toolCalls["call_1"]?.result).toMatchObject({ error: expect.stringMatching(/^LlmError: /) });
    const resultIndex = (await readSession(house.log, "ada")).inputs.findIndex(
      ({ type }) => type === "tool-call-completed",
    );
    expect(resultIndex).toBeLessThan(seqs.caller);

    using again = new Counter();
    const other = homely(again);
    await run(other, pairOf({ caller: { seq: resultIndex + 1, when: "before" } }), household);
    await run(other, pairOf(), household);
    expect((await finalStatesOf(other)).caller.toolCalls["call_1"]?.result).toMatchObject({
      isSuccess: false,
    });
    expect(again.asks).toBe(counter.asks);
  });
});

describe("a sub-agent in the middle of its work", () => {
  /** A caller whose sub-agent waits for a deed. */
  const waiting = async (house: House, deeds: ReadonlySet<string>): Promise<DurableSession> => {
    const session = await open(house, pairOf(), { script: held, deeds });
    await session.send("Have it done.");
    await rest();
    expect(effectsAt((await finalStatesOf(house)).child)).toHaveProperty("tool/call_1/1");
    return session;
  };

  it("is left open by a host that shuts down, and the next one continues it", async () => {
    using counter = new Counter();
    const house = homely(counter);
    const deeds = new Set<string>();
    const session = await waiting(house, deeds);
    await session.close();
    await rest();
    const left = await finalStatesOf(house);
    expect(isLoopRunning(left.child)).toBe(true);
    expect(house.clock.waiting).toBe(0);

    deeds.add("finished");
    await run(house, pairOf(), { script: held, deeds });
    const { caller, child, childId } = await finalStatesOf(house);
    expect(childId).toBe(left.childId);
    expect(child.messages.filter(({ role }) => role === "user")).toHaveLength(1);
    expect(caller.toolCalls["call_1"]?.result).toMatchObject({ isSuccess: true });
  });
});

describe("a sub-agent whose log cannot be reached for a while", () => {
  it("continues when it is back, and its caller notices nothing", async () => {
    using counter = new Counter();
    const house = homely(counter);
    const gates = new Gates();
    const deeds = new Set<string>();
    const options = { log: remoteLog(house.log, gates.pass) };
    const errors = new HeardErrors();
    const session = await open(house, pairOf(), { script: held, deeds, options }, errors.onError);
    await session.send("Have it done.");
    await rest();
    gates.isDown = true;
    deeds.add("finished");
    await rest();
    expect(Object.keys(effectsAt(session.current()))).toEqual(["tool/call_1/1"]);
    gates.isDown = false;
    await house.clock.advanceAsync(50);
    await rest();
    const { caller, child } = await finalStatesOf(house);
    expect(caller.toolCalls["call_1"]?.result).toMatchObject({ isSuccess: true });
    expect(child.messages.filter(({ role }) => role === "user")).toHaveLength(1);
    await session.close();
    expect(new Set(errors.codes)).toEqual(new Set(["LogWrite"]));
  });

  it("is let go by a cancel that cannot be written", async () => {
    using counter = new Counter();
    const house = homely(counter);
    const gates = new Gates();
    const options = { log: remoteLog(house.log, gates.pass) };
    const errors = new HeardErrors();
    const session = await open(house, pairOf(), { script: held, options }, errors.onError);
    await session.send("Have it done.");
    await rest();
    gates.isDown = true;
    await session.cancel("Enough.");
    await rest();
    expect(effectsAt(session.current())).toEqual({});
    await session.close();
    expect(house.clock.waiting).toBe(0);
    expect(new Set(errors.codes)).toEqual(new Set(["LogWrite"]));
  });
});
