import { effectsAt } from "@moora/agent-core-effects";
import {
  agentTransition,
  rulesVersion,
  type AgentInput,
  type AgentState,
} from "@moora/agent-core-state-machine";
import { memoryLog, type EventLog } from "@moora/event-log";
import { describe, expect, it } from "vitest";
import {
  exportSession,
  foldHeader,
  importSession,
  initialStateOf,
  parsePortable,
  verifySession,
} from "../../src/index.ts";
import { foldRecords } from "../../src/internal.ts";
import { canonicalJson } from "../../src/durable/canonical-json.ts";
import { restoreSession, snapshotVersion } from "../../src/durable/restore.ts";
import { readSession, sessionLog } from "../../src/time-travel/read-session.ts";
import { saveConfirmed } from "@moora/testbed/durable/append-input";
import { storageOf, storeNames } from "@moora/testbed/durable/places";
import { goldenText } from "@moora/testbed/corpus/files";
import { statesOf } from "@moora/testbed/corpus/positions";
import { recordings } from "@moora/testbed/corpus/recordings";
import { isProof } from "@moora/testbed/sample";

/** A golden session, taken into a log of its own. */
async function taken(name: string): Promise<{ readonly log: EventLog; readonly id: string }> {
  const log = memoryLog();
  const { id } = await importSession(log, goldenText(name));
  return { log, id };
}

/** The states of a session as a host goes through them that dispatches one input after the other. */
function liveStates(initial: AgentState, inputs: readonly AgentInput[]): readonly AgentState[] {
  const states = [initial];
  for (const input of inputs) states.push(agentTransition(input)(states.at(-1) ?? initial));
  return states;
}

/** Every position in the proof, else some of a long session. */
const every = (length: number): number => (isProof ? 1 : Math.max(1, Math.floor(length / 12)));

describe.each(storeNames)("a golden log in %s", (store) => {
  it("is the same when it is opened again, each one (A01)", async () => {
    await using storage = storageOf(store);
    const written = storage.open();
    for (const { name } of recordings) await importSession(written, goldenText(name), name);
    const reopened = storage.open();
    for (const { name } of recordings) {
      const again = linesOf(await exportSession(reopened, name));
      expect(again.slice(1, -1), name).toEqual(linesOf(goldenText(name)).slice(1, -1));
    }
  });
});

/** The first line says the id, the last one seals it. */
const linesOf = (text: string): readonly string[] => text.trimEnd().split("\n");

describe("a golden log", () => {
  it.each(recordings)("of $name verifies", async ({ name }) => {
    const { log, id } = await taken(name);
    expect(await verifySession(log, id)).toMatchObject({ ok: true });
  });

  it.each(recordings)(
    "of $name has states of the same text live, replayed, and after a snapshot was stored",
    async ({ name }) => {
      const { log, id } = await taken(name);
      const { header, inputs } = await readSession(log, id);
      const { header: text, records } = parsePortable(goldenText(name));
      const live = liveStates(initialStateOf(header), inputs);
      const textAt = (position: number): string => JSON.stringify(live[position]);
      const interval = every(live.length);
      for (const [position, state] of [...statesOf(goldenText(name))].entries())
        if (position % interval === 0) expect(JSON.stringify(state)).toBe(textAt(position));
      const third = Math.floor(records.length / 3);
      const { seq, digest } = records[third - 1] ?? foldHeader(text).head;
      const stored = { state: JSON.parse(textAt(third)), head: { seq, digest }, rules: rulesVersion };
      expect(JSON.stringify((await foldRecords(stored, records.slice(third))).state)).toBe(
        textAt(records.length),
      );
    },
  );

  it.each(recordings)("of $name wants the same live, replayed and asked twice (A08)", async ({ name }) => {
    const { log, id } = await taken(name);
    const { header, inputs } = await readSession(log, id);
    const live = liveStates(initialStateOf(header), inputs);
    const replayed = [...statesOf(goldenText(name))];
    expect(live).toHaveLength(replayed.length);
    live.forEach((state, seq) => {
      const wanted = JSON.stringify(effectsAt(state));
      expect(JSON.stringify(effectsAt(state)), `twice at ${seq}`).toBe(wanted);
      expect(JSON.stringify(effectsAt(replayed[seq] ?? state)), `replayed at ${seq}`).toBe(wanted);
    });
  });

  it.each(recordings)("of $name is the same from a snapshot and its tail (A02)", async ({ name }) => {
    const { log, id } = await taken(name);
    const session = await sessionLog(log, id);
    const { records } = await readSession(log, id);
    const states = [...statesOf(goldenText(name))];
    const last = canonicalJson(states.at(-1));
    for (let seq = 1; seq <= records.length; seq += every(records.length)) {
      const digest = records[seq - 1]?.digest ?? "";
      const body = JSON.stringify(states[seq]);
      const { updatedAt = 0 } = states.at(-1) ?? {};
      await saveConfirmed(session, { seq, digest, version: snapshotVersion, body }, updatedAt);
      const whole = await restoreSession(session);
      expect(whole, `from ${seq}`).toMatchObject({ snapshotSeq: seq, snapshotIgnored: false });
      expect(canonicalJson(whole.state), `from ${seq}`).toBe(last);
    }
  });

  it.each(recordings)(
    "of $name is folded whole where its snapshot is of another version (A02)",
    async ({ name }) => {
      const { log, id } = await taken(name);
      const session = await sessionLog(log, id);
      const { records } = await readSession(log, id);
      const states = [...statesOf(goldenText(name))];
      const seq = Math.ceil(records.length / 2);
      const digest = records[seq - 1]?.digest ?? "";
      const { updatedAt = 0 } = states.at(-1) ?? {};
      const body = JSON.stringify(states[seq]);
      await saveConfirmed(session, { seq, digest, version: "state-0", body }, updatedAt);
      const whole = await restoreSession(session);
      expect(whole).toMatchObject({ snapshotSeq: 0, snapshotIgnored: true });
      expect(canonicalJson(whole.state)).toBe(canonicalJson(states.at(-1)));
    },
  );
});
