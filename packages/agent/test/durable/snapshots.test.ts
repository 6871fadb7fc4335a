import { memoryLog, MemoryStorage, type EventLog, type Snapshot } from "@moora/event-log";
import { hangs, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { stateAt } from "../../src/index.ts";
import { snapshotVersion } from "../../src/durable/restored.ts";
import { call } from "./world/counting-agent.ts";
import { quiet } from "./world/drive.ts";
import { remoteLog } from "./world/remote-log.ts";
import { checkSound, sceneOf } from "./world/scene.ts";
import { turn } from "./world/virtual-clock.ts";

/** The log of a session that made a call and was closed, and a way to open it again. */
async function closedSession() {
  const storage = new MemoryStorage();
  const log = (): EventLog => memoryLog(storage);
  const scene = sceneOf([[call("look")]], {}, { log });
  const session = await scene.open();
  await session.send("Please.");
  await quiet(session);
  await session.close();
  const handle = await log().open("ada");
  const snapshot = await handle?.snapshot();
  if (handle === undefined || snapshot === undefined) throw new Error("The session left no snapshot.");
  return { log, handle, snapshot, read: () => scene.open({ access: "read" }) };
}

/** A state that no log of this session leads to: whoever uses it can be told. */
const forged = (body: string): string => body.replaceAll("Please.", "Forged.");

const unusable: readonly (readonly [string, (snapshot: Snapshot) => Snapshot])[] = [
  [
    "of another form of states",
    (snapshot) => ({ ...snapshot, version: "state-0", body: forged(snapshot.body) }),
  ],
  [
    "of a record that the log does not have",
    (snapshot) => ({ ...snapshot, seq: snapshot.seq + 1, body: forged(snapshot.body) }),
  ],
  [
    "of another record than it says",
    (snapshot) => ({ ...snapshot, seq: snapshot.seq - 1, body: forged(snapshot.body) }),
  ],
  ["of no record", (snapshot) => ({ ...snapshot, seq: 0, body: forged(snapshot.body) })],
  ["that is no JSON", (snapshot) => ({ ...snapshot, body: "{" })],
  ["that is no state", (snapshot) => ({ ...snapshot, body: "{}" })],
];

describe("a snapshot", () => {
  it.each(unusable)("%s is not used: the log is folded from its beginning", async (_, changed) => {
    const { log, handle, snapshot, read } = await closedSession();
    await handle.saveSnapshot(changed(snapshot));
    const session = await read();
    expect(session.info().snapshotIgnored).toBe(true);
    expect(session.current().messages[0]?.content).toBe("Please.");
    await checkSound(session, log());
    await session.close();
  });

  it("of the record that it stands for is what the session begins with", async () => {
    const { handle, snapshot, read } = await closedSession();
    expect(snapshot.version).toBe(snapshotVersion);
    await handle.saveSnapshot({ ...snapshot, body: forged(snapshot.body) });
    const session = await read();
    expect(session.info()).toMatchObject({ snapshotIgnored: false, seq: await handle.head() });
    expect(session.current().messages[0]?.content).toBe("Forged.");
    await session.close();
  });

  it("that is saved while a group of inputs is taken in stands for its own record", async () => {
    const near = memoryLog(new MemoryStorage());
    const scene = sceneOf(
      [],
      {},
      {
        log: () => remoteLog(near, turn),
        llm: new MockLlmCaller(() => hangs()),
      },
    );
    const session = await scene.open();
    await session.send("Think.");
    const notes = Array.from({ length: 1_500 }, (_, index) => session.note(`Note ${index}.`));
    await Promise.all(notes);
    const handle = await near.open("ada");
    let snapshot = await handle?.snapshot();
    for (; snapshot === undefined; snapshot = await handle?.snapshot()) await turn();
    const { state } = await stateAt(near, "ada", snapshot.seq);
    expect(snapshot.seq).toBeLessThan(session.info().seq);
    expect(JSON.parse(snapshot.body)).toEqual(state);
    await session.close();
  });

  it("is kept for no session that says so", async () => {
    const storage = new MemoryStorage();
    const scene = sceneOf([[call("look")]], {}, { log: () => memoryLog(storage) });
    const session = await scene.open({ snapshots: false });
    await session.send("Please.");
    await quiet(session);
    await session.close();
    expect(await (await scene.log().open("ada"))?.snapshot()).toBeUndefined();
  });
});
