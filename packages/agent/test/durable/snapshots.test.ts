import type { AgentInput, AgentState } from "@moora/agent-core-state-machine";
import {
  digestOf,
  memoryLog,
  MemoryStorage,
  type EventLog,
  type LogNotice,
  type Snapshot,
} from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import { hangs, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import {
  readSession,
  stateAt,
  verifySession,
  type DurableSession,
  type OpenOptions,
} from "../../src/index.ts";
import { snapshotVersion } from "../../src/durable/restore.ts";
import { HeardErrors } from "@moora/testbed/durable/errors";
import { appendInputs, saveConfirmed } from "@moora/testbed/durable/append-input";
import { call } from "@moora/testbed/durable/counting-agent";
import { quiet } from "@moora/testbed/durable/drive";
import { Gates, remoteLog } from "@moora/testbed/durable/remote-log";
import { checkSound, sceneOf } from "@moora/testbed/durable/scene";
import { jsonlStorage, sqliteStorage } from "@moora/testbed/stores";
import { turn } from "@moora/testbed/test-clock";

const said = (content: string) =>
  ({ type: "user-message-received", messageId: `m-${content}`, content, timestamp: 1 }) as const;

/** The log of a session that made a call and was closed, and ways to open it again. */
async function closedSession(log: () => EventLog = memoryLogs()) {
  const scene = sceneOf([[call("look")]], {}, { log });
  const session = await scene.open();
  await session.send("Please.");
  await quiet(session);
  await session.close();
  const handle = await log().open("ada");
  const snapshot = await handle?.snapshot();
  if (handle === undefined || snapshot === undefined) throw new Error("The session left no snapshot.");
  const notices: LogNotice[] = [];
  const open = (options: Partial<OpenOptions> = {}) =>
    scene.open({ onNotice: (notice) => notices.push(notice), ...options });
  return { log, handle, snapshot, notices, open, read: () => open({ access: "read" }), scene };
}

/** Logs over one storage in memory, each as one more process would have it. */
function memoryLogs(): () => EventLog {
  const storage = new MemoryStorage();
  return () => memoryLog(storage);
}

const inputsOf = async (log: EventLog): Promise<readonly AgentInput[]> =>
  (await readSession(log, "ada")).inputs;

/** A snapshot with another body, and the digest of that. */
const withBody = (snapshot: Snapshot, body: string): Snapshot => ({
  ...snapshot,
  body,
  bodyDigest: digestOf(body),
});

/** A state that no log of this session leads to: who uses it is found out. */
const forged = (snapshot: Snapshot): Snapshot =>
  withBody(snapshot, snapshot.body.replaceAll("Please.", "Forged."));

const unusable: readonly (readonly [string, string, (snapshot: Snapshot) => Snapshot])[] = [
  ["that was forged", "snapshot", forged],
  [
    "of a record that the log does not have",
    "damaged",
    (snapshot) => ({ ...forged(snapshot), seq: snapshot.seq + 2 }),
  ],
  [
    "of another record than it says",
    "snapshot",
    (snapshot) => ({ ...forged(snapshot), seq: snapshot.seq - 1 }),
  ],
  ["of no record", "snapshot", (snapshot) => ({ ...forged(snapshot), seq: 0 })],
  ["that is not JSON", "snapshot", (snapshot) => withBody(snapshot, "{")],
  ["that is not a state", "snapshot", (snapshot) => withBody(snapshot, "{}")],
];

describe("a snapshot that the log does not confirm", () => {
  it.each(unusable)("%s, is not used but reported, and named by verification", async (_, reason, changed) => {
    const { log, handle, snapshot, notices, read } = await closedSession();
    const bad = changed(snapshot);
    await handle.saveSnapshot(bad);
    const report = await verifySession(log(), "ada");
    const head = await handle.head();
    expect(report).toMatchObject({ ok: false, reason, seq: reason === "damaged" ? head + 1 : bad.seq });
    await using session = await read();
    expect(session.info()).toMatchObject({ snapshotIgnored: true, seq: head });
    expect(session.current().messages[0]?.content).toBe("Please.");
    expect(notices).toMatchObject([{ type: "damaged-snapshot", id: "ada", afterSeq: bad.seq }]);
    await checkSameState(session, log());
  });

  it("of another session is not used, though that one confirms it", async () => {
    const [one, other] = [await closedSession(), await closedSession()];
    await one.handle.saveSnapshot(other.snapshot);
    expect(await verifySession(one.log(), "ada")).toMatchObject({ ok: false, reason: "snapshot" });
    await using session = await one.read();
    expect(session.info().snapshotIgnored).toBe(true);
  });

  it("for its own record is not used, though it is confirmed for another one", async () => {
    const { log, handle, snapshot, read } = await closedSession();
    await appendInputs(handle, { type: "re-act-cancelled", timestamp: 1 }, said("Lost?"));
    await saveConfirmed(handle, snapshot, 1);
    const late = (await handle.read()).at(-2);
    await handle.saveSnapshot({ ...snapshot, seq: late?.seq ?? 0, digest: late?.digest ?? "" });
    expect(await verifySession(log(), "ada")).toMatchObject({
      ok: false,
      reason: "snapshot",
      seq: late?.seq,
    });
    await using session = await read();
    expect(session.info().snapshotIgnored).toBe(true);
    expect(session.current().messages.at(-1)?.content).toBe("Lost?");
  });

  it("because the record that does is missing is named by verification: others may be missing, too", async () => {
    const storage = new MemoryStorage();
    const { log, notices, read } = await closedSession(() => memoryLog(storage));
    storage.generations.get("ada")?.records.pop();
    expect(await verifySession(log(), "ada")).toMatchObject({ ok: false, reason: "snapshot" });
    await using session = await read();
    expect(session.info().snapshotIgnored).toBe(true);
    expect(notices).toHaveLength(1);
  });

  it("is replaced by the next owner, and the log verifies again", async () => {
    const { log, handle, snapshot, open } = await closedSession();
    await handle.saveSnapshot(forged(snapshot));
    const session = await open();
    await session.send("And more.");
    await quiet(session);
    await session.close();
    expect(await verifySession(log(), "ada")).toMatchObject({ ok: true });
  });

  it.each([
    ["jsonl", jsonlStorage],
    ["sqlite", sqliteStorage],
  ])("is not one that the log itself finds damaged and reports, in %s", async (_, storageWith) => {
    const ofLog: LogNotice[] = [];
    const storage = storageWith({ onNotice: (notice) => ofLog.push(notice) });
    const logs = await storage.open();
    const { notices, read, scene } = await closedSession(() => logs);
    expect(ofLog).toEqual([]);
    await storage.damageSnapshot?.("ada");
    const session = await read();
    expect(session.info()).toMatchObject({ snapshotIgnored: false });
    expect(ofLog).toMatchObject([{ type: "damaged-snapshot", id: "ada" }]);
    expect(notices).toEqual([]);
    await checkSameState(session, scene.log());
    await session.close();
    await storage.dispose();
  });

  it("of another release is not used either, and nothing is reported", async () => {
    const { log, handle, snapshot, notices, read } = await closedSession();
    const { body, ...rest } = forged(snapshot);
    await saveConfirmed(handle, { ...rest, version: "state-0", body }, 1);
    const session = await read();
    expect(session.info().snapshotIgnored).toBe(true);
    expect(session.current().messages[0]?.content).toBe("Please.");
    expect(notices).toEqual([]);
    await session.close();
    expect(await verifySession(log(), "ada")).toMatchObject({ ok: true });
  });
});

/** The session shows the state that its records lead to. */
async function checkSameState(session: DurableSession, log: EventLog): Promise<void> {
  const { streaming: _, ...state } = session.current();
  expect(state).toEqual((await stateAt(log, "ada")).state);
}

describe("a snapshot", () => {
  it("that the log confirms is what the session begins with", async () => {
    const { handle, snapshot, read, notices } = await closedSession();
    expect(snapshot.version).toBe(snapshotVersion);
    const { seq, digest } = (await handle.read()).at(-1) ?? { seq: 0, digest: "" };
    const { body } = forged(snapshot);
    await saveConfirmed(handle, { seq, digest, version: snapshotVersion, body }, 1);
    await using session = await read();
    expect(session.info()).toMatchObject({ snapshotIgnored: false, seq: await handle.head() });
    expect(session.current().messages[0]?.content).toBe("Forged.");
    expect(notices).toEqual([]);
  });

  it("whose state is not the one of its record is named by verification, though its owner confirmed it", async () => {
    const { log, handle, snapshot } = await closedSession();
    const { seq, digest } = (await handle.read()).at(-1) ?? { seq: 0, digest: "" };
    await saveConfirmed(handle, { ...forged(snapshot), seq, digest }, 1);
    const report = await verifySession(log(), "ada");
    expect(report).toMatchObject({ ok: false, reason: "snapshot", seq });
    expect(report.ok ? "" : report.message).toContain("differs from the state that the records lead to");
  });

  it("is recorded before it is saved: an owner that dies in between leaves an older one, which is good", async () => {
    const { log, handle, snapshot, read, scene, notices } = await closedSession();
    const dying = withSessions(log(), () => ({ saveSnapshot: () => Promise.reject(new Error("dead")) }));
    const errors = new HeardErrors();
    const session = await scene.open({ log: dying, onError: errors.onError });
    await session.send("More.");
    await quiet(session);
    await session.close();
    expect(errors.codes).toEqual(["Error"]);
    expect((await inputsOf(log())).at(-1)).toMatchObject({ type: "snapshot-taken" });
    expect(await handle.snapshot()).toEqual(snapshot);
    expect(await verifySession(log(), "ada")).toMatchObject({ ok: true });
    await using again = await read();
    expect(again.info().snapshotIgnored).toBe(false);
    expect(notices).toEqual([]);
    await checkSound(again, log());
  });

  it("is saved only when the record that confirms it is in the log", async () => {
    const near = memoryLogs()();
    const gates = new Gates();
    const scene = sceneOf([[call("look")]], {}, { log: () => remoteLog(near, gates.pass) });
    const session = await scene.open();
    await session.send("Please.");
    await quiet(session);
    const gate = gates.hold("append", "there", "snapshot-taken");
    const closed = session.close();
    await gate.reached;
    await turn();
    const handle = await near.open("ada");
    expect(await handle?.snapshot()).toBeUndefined();
    gate.open();
    await closed;
    expect(await handle?.snapshot()).toMatchObject({ version: snapshotVersion });
  });

  it("is not taken again where only openings and snapshots have come since the last one", async () => {
    const { log, handle, snapshot, open } = await closedSession();
    const before = await inputsOf(log());
    for (let time = 0; time < 3; time += 1) await (await open()).close();
    const added = (await inputsOf(log())).slice(before.length).map(({ type }) => type);
    expect(added).toEqual(["session-opened", "session-opened", "session-opened"]);
    expect(await handle.snapshot()).toEqual(snapshot);
    const session = await open();
    await session.send("News.");
    await quiet(session);
    await session.close();
    expect((await handle.snapshot())?.seq).toBe((await handle.head()) - 1);
  });

  it("is taken after a thousand openings, so that they are not folded for ever", async () => {
    const { log, handle, open } = await closedSession();
    const again = { type: "session-opened", owner: "again", timestamp: 1 } as const;
    await appendInputs(handle, ...Array.from({ length: 1_000 }, () => again));
    const before = await handle.snapshot();
    const session = await open();
    await session.close();
    expect((await handle.snapshot())?.seq).toBeGreaterThan(before?.seq ?? 0);
    expect(await verifySession(log(), "ada")).toMatchObject({ ok: true });
  });

  it("that is saved while a group of inputs is applied belongs to its own record", async () => {
    const near = memoryLog(new MemoryStorage());
    const scene = sceneOf(
      [],
      {},
      {
        log: () => remoteLog(near, turn),
        llm: new MockLlmCaller(() => hangs()),
      },
    );
    await using session = await scene.open();
    await session.send("Think.");
    const notes = Array.from({ length: 1_500 }, (_, index) => session.note(`Note ${index}.`));
    await Promise.all(notes);
    const handle = await near.open("ada");
    let snapshot = await handle?.snapshot();
    for (; snapshot === undefined; snapshot = await handle?.snapshot()) await turn();
    const { seq } = snapshot;
    expect((await inputsOf(near)).slice(seq)).toContainEqual(
      expect.objectContaining({ type: "snapshot-taken", seq, digest: snapshot.bodyDigest }),
    );
    const { state } = await stateAt(near, "ada", snapshot.seq);
    expect(snapshot.seq).toBeLessThan(session.info().seq);
    expect(JSON.parse(snapshot.body)).toEqual(state);
  });

  it("is kept for no session that says so", async () => {
    const storage = new MemoryStorage();
    const scene = sceneOf([[call("look")]], {}, { log: () => memoryLog(storage) });
    const session = await scene.open({ snapshots: false });
    await session.send("Please.");
    await quiet(session);
    await session.close();
    expect(await (await scene.log().open("ada"))?.snapshot()).toBeUndefined();
    expect((await inputsOf(scene.log())).filter(({ type }) => type === "snapshot-taken")).toEqual([]);
  });

  it("is confirmed by the owner only: another process cannot post the record that does", async () => {
    const { scene } = await closedSession();
    await using poster = await scene.post();
    const confirming = poster.dispatch({ type: "snapshot-taken", seq: 1, digest: "d", timestamp: 1 });
    await expect(confirming).rejects.toMatchObject({ code: "not-allowed" });
  });
});

describe("a state that a session hands out", () => {
  it("cannot be written to, from the first input on and after it was read from a snapshot", async () => {
    const scene = sceneOf([[call("pay")]]);
    const first = await scene.open();
    await first.send("Please.");
    await quiet(first);
    const refused = (state: AgentState): void => {
      const message: object = state.messages[0] ?? {};
      const record: object = state.toolCalls["call_1"] ?? {};
      for (const element of [
        state,
        message,
        record,
        state.config.limits,
        state.transcript,
        state.reActContext,
      ])
        expect(() => Object.assign(element, { content: "FORGED" })).toThrow(TypeError);
    };
    refused(first.current());
    await first.close();
    const again = await scene.open({ access: "read" });
    expect(again.info().snapshotIgnored).toBe(false);
    refused(again.current());
    await again.close();
    expect(await verifySession(scene.log(), "ada")).toMatchObject({ ok: true });
  });
});
