import type { SessionLog } from "../../port.ts";
import { appendBodies, bodies, headOf, recordsAfter } from "../chain-of.ts";
import { check, checkEqual, checkRejected } from "../expectations.ts";
import type { LogCase } from "../log-storage.ts";
import { logCase, type Scene } from "../scene.ts";

/** A case for logs whose sessions have `removeAt`; it passes for those that do not. */
const removalCase = (
  name: string,
  act: (scene: Scene, session: SessionLog, removeAt: NonNullable<SessionLog["removeAt"]>) => Promise<void>,
): LogCase =>
  logCase(name, async (scene) => {
    const session = await scene.create();
    if (session.removeAt !== undefined) await act(scene, session, session.removeAt.bind(session));
  });

export const removalCases: readonly LogCase[] = [
  removalCase(
    "removeAt removes a session with this last record, also after a crash",
    async (scene, session, removeAt) => {
      await appendBodies(session, "{}", "[]");
      await scene.create("b");
      check(await removeAt(2), "removeAt returns true");
      for (const log of [scene.log, await scene.storage.open(), await scene.storage.reopen()]) {
        checkEqual(await log.open("a"), undefined, "open");
        checkEqual(
          (await log.list()).map(({ id }) => id),
          ["b"],
          "the list",
        );
      }
      await checkRejected("LogRemoved", "removing it again", () => removeAt(2));
    },
  ),
  removalCase("removeAt keeps a session with another last record", async (scene, session, removeAt) => {
    await appendBodies(session, ...bodies(3));
    for (const seq of [1, 2, 4]) check(!(await removeAt(seq)), `removeAt(${seq}) returns false`);
    checkEqual((await (await scene.openElsewhere()).read()).length, 3, "its records");
  }),
  removalCase(
    "removeAt keeps a session to which another process has appended",
    async (scene, session, removeAt) => {
      await appendBodies(session, "{}");
      const elsewhere = await scene.openElsewhere();
      const before = await headOf(session);
      await elsewhere.append(1, recordsAfter(before, '{"late":true}'));
      check(!(await removeAt(1)), "removeAt returns false");
      checkEqual(await elsewhere.head(), 2, "its head");
      check(await removeAt(2), "removeAt of the new last record returns true");
    },
  ),
  removalCase(
    "an append at the same time as removeAt is kept, or fails with LogRemoved",
    async (scene, session, removeAt) => {
      await appendBodies(session, "{}");
      const elsewhere = await scene.openElsewhere();
      const late = recordsAfter(await headOf(session), '{"late":true}');
      const append = async (): Promise<string> => {
        try {
          await elsewhere.append(1, late);
          return "appended";
        } catch (error) {
          return error instanceof Error && "code" in error ? String(error.code) : "unknown";
        }
      };
      const [isRemoved, appended] = await Promise.all([removeAt(1), append()]);
      checkEqual(appended, isRemoved ? "LogRemoved" : "appended", "the append");
      checkEqual((await scene.log.open("a")) === undefined, isRemoved, "whether the session was removed");
    },
  ),
  removalCase(
    "removeAt of an old handle does not remove a new session of its id",
    async (scene, session, removeAt) => {
      await appendBodies(session, "{}");
      await scene.log.remove("a");
      await appendBodies(await scene.create("a", '{"generation":2}'), "{}");
      await checkRejected("LogRemoved", "removeAt", () => removeAt(1));
      checkEqual(await (await scene.open()).head(), 1, "the head of the new session");
    },
  ),
];
