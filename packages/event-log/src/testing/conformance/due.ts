import type { DueQuery, EventLog } from "../../port.ts";
import { appendBodies } from "../chain-of.ts";
import { check, checkEqual } from "../expectations.ts";
import type { LogCase } from "../log-storage.ts";
import { logCase, type Scene } from "../scene.ts";

/** The ids of the sessions that are due at a time. */
async function dueAt(log: EventLog, now: number, more: Partial<DueQuery> = {}): Promise<readonly string[]> {
  check(log.due !== undefined, "the log lists due sessions");
  const sessions = await log.due({ now, limit: 100, ...more });
  return sessions.map(({ id }) => id);
}

/** A case for logs that list due sessions; it passes for those that do not. */
const dueCase = (name: string, act: (scene: Scene) => Promise<void>): LogCase =>
  logCase(name, async (scene) => {
    if (scene.log.due !== undefined) await act(scene);
  });

/** Creates a session with one record that is due at a time. */
async function createDue(scene: Scene, id: string, due: number | null): Promise<void> {
  const session = await scene.create(id);
  await appendBodies(session, "{}");
  check(session.saveDue !== undefined, "the session saves its due time");
  await session.saveDue(1, due);
}

export const dueCases: readonly LogCase[] = [
  dueCase("a session is due from its first record on", async (scene) => {
    const session = await scene.create("a", '{"a":1}');
    checkEqual(await dueAt(scene.log, 1), [], "the due sessions before it");
    await appendBodies(session, "{}");
    checkEqual(
      await scene.log.due?.({ now: 1, limit: 9 }),
      [{ id: "a", header: '{"a":1}', due: 0 }],
      "the due sessions",
    );
  }),
  dueCase("a session is due at its due time, and never without one", async (scene) => {
    await createDue(scene, "later", 500);
    await createDue(scene, "never", null);
    checkEqual(await dueAt(scene.log, 499), [], "the due sessions before the time");
    checkEqual(await dueAt(scene.log, 500), ["later"], "the due sessions at the time");
  }),
  dueCase("a new record makes a session due, also one of another process", async (scene) => {
    await createDue(scene, "a", null);
    await appendBodies(await scene.openElsewhere(), "{}");
    checkEqual(await dueAt(scene.log, 1), ["a"], "the due sessions");
  }),
  dueCase("a due time is not saved if another record was added meanwhile", async (scene) => {
    await createDue(scene, "a", null);
    const session = await scene.open();
    await appendBodies(await scene.openElsewhere(), "{}");
    await session.saveDue?.(1, null);
    checkEqual(await dueAt(scene.log, 1), ["a"], "the due sessions");
    await session.saveDue?.(2, null);
    checkEqual(await dueAt(scene.log, 1), [], "the due sessions after the record was seen");
  }),
  dueCase("a rejected append makes no session due", async (scene) => {
    await createDue(scene, "a", null);
    const session = await scene.open();
    const [first] = await session.read();
    check(first !== undefined, "there is a record");
    await Promise.allSettled([(async () => session.append(0, [first]))()]);
    await session.append(1, []);
    checkEqual(await dueAt(scene.log, 1), [], "the due sessions");
  }),
  dueCase("a session with a lease is not due before the lease ends", async (scene) => {
    await createDue(scene, "a", 0);
    const session = await scene.open();
    await session.lease({ owner: "x", now: 100, ttlMs: 50 });
    checkEqual(await dueAt(scene.log, 149), [], "the due sessions during the lease");
    checkEqual(await dueAt(scene.log, 150), ["a"], "the due sessions after the lease");
    await session.release("x");
    checkEqual(await dueAt(scene.log, 100), ["a"], "the due sessions after the release");
  }),
  dueCase("due sessions come in pages, ordered by due time and id", async (scene) => {
    for (const [id, due] of [
      ["b", 2],
      ["c", 0],
      ["a", 2],
      ["d", 1],
      ["e", 9],
    ] as const)
      await createDue(scene, id, due);
    checkEqual(await dueAt(scene.log, 8), ["c", "d", "a", "b"], "all of them");
    checkEqual(await dueAt(scene.log, 8, { limit: 3 }), ["c", "d", "a"], "the first page");
    checkEqual(await dueAt(scene.log, 8, { limit: 3, after: { due: 2, id: "a" } }), ["b"], "the second page");
    checkEqual(await dueAt(scene.log, 8, { after: { due: 2, id: "b" } }), [], "the page after the last");
  }),
  dueCase("due times survive a crash, and end with their session", async (scene) => {
    await createDue(scene, "a", null);
    await createDue(scene, "b", 5);
    const again = await scene.storage.reopen();
    checkEqual(await dueAt(again, 5), ["b"], "the due sessions after a crash");
    await again.remove("b");
    checkEqual(await dueAt(again, 5), [], "the due sessions after the removal");
    await scene.create("b");
    checkEqual(await dueAt(again, 5), [], "the due sessions after it was created again");
  }),
];
