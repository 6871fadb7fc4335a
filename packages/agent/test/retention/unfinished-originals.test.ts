import { memoryLog, type EventLog } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import { describe, expect, it } from "vitest";
import { LogError, moveSession, pruneSessions, removeSession, SessionError } from "../../src/index.ts";
import { closedBy } from "../../src/durable/closed-copy.ts";
import { World } from "./family-world.ts";
import { ends, interrupted, type Writes } from "./interruptions.ts";

const before = 1e12;

/** A move of three sessions makes at least as many writes. */
const copyWrites = 6;

/** A log whose disk is full after some writes. Its leases can be released. */
const full = (log: EventLog, writes: Writes): EventLog =>
  withSessions(
    interrupted(log, writes),
    (session) => ({ release: async (owner) => await (await log.open(session.id))?.release(owner) }),
    { remove: (id) => log.remove(id) },
  );

/** How a move from the log to the archive ends after some writes. */
const endings = {
  "whose process ended": ({ log, archive, clock }: World, writes: Writes) =>
    moveSession(interrupted(log, writes), "ada", interrupted(archive, writes), { clock }),
  "whose other log failed": ({ log, archive, clock }: World, writes: Writes) =>
    moveSession(log, "ada", full(archive, writes), { clock }),
};

type Removal = (world: World) => Promise<readonly string[]>;

const removals = {
  pruneSessions: async ({ log, clock }) => (await pruneSessions(log, { before, clock })).pruned,
  removeSession: ({ log }) => removeSession(log, "ada"),
} satisfies Readonly<Record<string, Removal>>;

const isOpen = async (log: EventLog, id: string): Promise<boolean> =>
  (await (await log.open(id))?.currentLease()) === undefined;

/** Whether the original can be opened. */
async function isReadable({ log }: World): Promise<boolean> {
  const session = await log.open("ada");
  return session !== undefined && closedBy(await session.currentLease()) === undefined;
}

/** The worlds of a move that ends in this way, after each number of writes up to the one with which it is complete. */
async function* interruptedMoves(ending: keyof typeof endings) {
  for (let left = 0, isComplete = false; !isComplete; left += 1) {
    const world = new World();
    await world.begin();
    isComplete = await ends(endings[ending](world, { left }));
    world.clock.advance(ending === "whose process ended" ? 60_000 : 0);
    yield { world, left };
  }
}

describe.each(["whose process ended", "whose other log failed"] as const)(
  "a move %s after any write",
  (ending) => {
    it.each(Object.entries(removals))("leaves no copy that %s makes useless", async (_, removal) => {
      let kept = 0;
      let removed = 0;
      for await (const { world, left } of interruptedMoves(ending)) {
        const { log, archive, clock } = world;
        const copies = await archive.list();
        const ids = await removal(world).catch((error: unknown): readonly string[] => {
          expect(error).toMatchObject({ code: "MoveUnfinished" });
          return [];
        });
        if (ids.includes("ada")) removed += 1;
        else kept += 1;
        if (copies.length > 0) expect(ids, `after ${left} writes`).not.toContain("ada");
        await moveSession(log, "ada", archive, { clock }).catch((error: unknown) => {
          if (!(error instanceof SessionError || error instanceof LogError)) throw error;
          expect(error.code).toBe("SessionUnknown");
        });
        for (const { id } of await archive.list())
          expect(await isOpen(archive, id), `${id} after ${left} writes`).toBe(true);
        if (!ids.includes("ada")) expect(await archive.list()).toHaveLength(3);
      }
      expect(kept).toBeGreaterThan(copyWrites);
      if (ending === "whose process ended") expect(removed).toBeGreaterThan(0);
    });

    it("runs on in the first log while that is open, after which its session can be removed there", async () => {
      let runs = 0;
      for await (const { world } of interruptedMoves(ending)) {
        const { log, archive } = world;
        if ((await log.open("ada")) === undefined) continue;
        const session = await world.open(log).catch((error: unknown) => {
          expect(error).toMatchObject({ code: "MoveUnfinished" });
          return undefined;
        });
        if (session === undefined) continue;
        await session.close();
        await world.finish(log);
        expect(await removeSession(log, "ada")).toContain("ada");
        await removeSession(archive, "ada");
        expect(await archive.list()).toEqual([]);
        runs += 1;
      }
      expect(runs).toBeGreaterThan(1);
    });

    it("keeps a copy of an open original also after a retry with another log is refused", async () => {
      let refused = 0;
      for await (const { world } of interruptedMoves(ending)) {
        const { log, archive, clock } = world;
        if (!(await isReadable(world)) || (await archive.list()).length === 0) continue;
        const other = memoryLog();
        await other.create("ada", "another session");
        await expect(moveSession(log, "ada", other, { clock })).rejects.toMatchObject({ code: "LogExists" });
        await expect(removeSession(log, "ada")).rejects.toMatchObject({ code: "MoveUnfinished" });
        refused += 1;
      }
      expect(refused).toBeGreaterThan(1);
    });
  },
);
