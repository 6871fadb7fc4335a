import { openSession } from "@moora/agent";
import type { EventLog, LogRecord } from "@moora/event-log";
import { msOf, wallTime } from "../harness/clocks.ts";
import { alternating, partlyTimedWay, type Way } from "../harness/ways.ts";
import type { RowContext, Sampler } from "../harness/row.ts";
import { handLoop } from "../loops/by-hand.ts";
import { scriptedAgent, scriptedModel } from "../loops/moora.ts";
import { CallCounter, type Script } from "../loops/script.ts";
import type { BareStore } from "./bare-store.ts";
import { openStores, type StoreName } from "./stores.ts";

/** The ids of sessions, which are unique in a run. */
let sessions = 0;
const newId = (): string => `${process.pid}-${(sessions += 1)}`;

/** Inputs that report a fact from outside the agent. The loop written by hand appends once for each of them. */
const facts: ReadonlySet<string> = new Set([
  "user-message-received",
  "re-act-observed",
  "tool-call-completed",
]);

const typeOf = ({ body }: LogRecord): string => JSON.parse(body).type;

/**
 * The records of a run as the loop written by hand appends them: each fact with the records up to the next one, from the
 * message of the user on. So both append the same bytes, at two appends a step.
 */
function recordGroups(records: readonly LogRecord[], { turns, calls }: Script): readonly LogRecord[][] {
  const groups: LogRecord[][] = [];
  for (const record of records) {
    if (facts.has(typeOf(record))) groups.push([record]);
    else groups.at(-1)?.push(record);
  }
  const expected = 1 + turns * (1 + calls) + 1;
  if (groups.length !== expected) {
    throw new Error(
      `The log of a run has ${groups.length} facts, not ${expected}. Adapt recordGroups to it.`,
    );
  }
  return groups;
}

/** What a run of a script in a session writes to a log. */
interface Recording {
  readonly header: string;
  /** The records of the opening. */
  readonly opening: readonly LogRecord[];
  readonly groups: readonly (readonly LogRecord[])[];
}

async function recordRun(log: EventLog, script: Script): Promise<Recording> {
  await using session = await openSession(scriptedAgent(script, new CallCounter()), { log, id: newId() });
  const first = session.seq();
  await session.ask("Go.");
  const found = await log.open(session.id);
  if (found === undefined) throw new Error("The log has lost a session.");
  const records = await found.read();
  return {
    header: found.header,
    opening: records.slice(0, first),
    groups: recordGroups(records.slice(first), script),
  };
}

const wallTimedWay = (name: string, units: number, work: () => Promise<number>): Way =>
  partlyTimedWay({ name, units, clock: wallTime, work });

/** The run of a script in a session with a log, from the message to the answer. */
function sessionWay(log: EventLog, script: Script, units: number): Way {
  const counter = new CallCounter();
  const agent = scriptedAgent(script, counter);
  return wallTimedWay("session", units, async () => {
    await using session = await openSession(agent, { log, id: newId() });
    const ms = await msOf(wallTime, () => session.ask("Go."));
    counter.check(script);
    return ms;
  });
}

/** The same by hand: each fact is appended on its own. */
function handWay(bare: BareStore, { groups }: Recording, script: Script, units: number): Way {
  const counter = new CallCounter();
  const llm = scriptedModel(script, counter);
  const texts = groups.map((group) => group.map((record) => `${JSON.stringify(record)}\n`).join(""));
  return wallTimedWay("by hand", units, async () => {
    const session = bare.start();
    let appends = 0;
    const ms = await msOf(wallTime, () =>
      handLoop(llm, counter, () => session.append(texts[appends++] ?? "")),
    );
    session.close();
    counter.check(script);
    if (appends !== texts.length) throw new Error(`${appends} appends instead of ${texts.length}.`);
    return ms;
  });
}

/** The appends of the loop by hand to a log of ours, without an agent: for information. */
function appendWay(log: EventLog, { header, opening, groups }: Recording, units: number): Way {
  return wallTimedWay("appends to the log", units, async () => {
    const session = await log.create(newId(), header);
    await session.append(0, opening);
    let seq = opening.length;
    return await msOf(wallTime, async () => {
      for (const group of groups) {
        const done = session.append(seq, group);
        if (done !== undefined) await done;
        seq += group.length;
      }
    });
  });
}

/** Compares a session in a log with the loop by hand in a store of the same settings. */
export async function compareDurable(
  name: StoreName,
  context: RowContext,
  script: Script,
  units: number,
): Promise<Sampler> {
  const { log, bare } = await openStores(name, context);
  const recording = await recordRun(log, script);
  return alternating(
    sessionWay(log, script, units),
    handWay(bare, recording, script, units),
    appendWay(log, recording, units),
  );
}
