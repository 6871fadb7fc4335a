import { memoryLog, type EventLog } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import { describe, expect, it } from "vitest";
import {
  forkSession,
  identityOf,
  moveSession,
  openSession,
  pruneSessions,
  readHeader,
  removeSession,
} from "../../src/index.ts";
import { newWriteHolder } from "../../src/durable/unfinished-write.ts";
import { World } from "./family-world.ts";
import { onAppend } from "@moora/testbed/durable/on-append";

const idsIn = async (log: EventLog): Promise<readonly string[]> =>
  (await log.list()).map(({ id }) => id.replace(/-.*/, ""));

const before = 1e12;
type Move = (world: Pick<World, "log" | "clock">, archive: EventLog) => Promise<readonly string[]>;

const moves = {
  "a move": ({ log, clock }, archive) => moveSession(log, "ada", archive, { clock }),
  "an archiving": async ({ log, clock }, archive) =>
    (await pruneSessions(log, { before, archive, clock })).pruned,
} satisfies Readonly<Record<string, Move>>;

describe.each(Object.entries(moves))("%s", (_, move) => {
  it("moves all sessions although each removal takes longer than a third of their leases", async () => {
    const world = new World();
    await world.begin();
    const { archive, clock } = world;
    const slow = withSessions(
      world.log,
      (session) => ({
        removeAt: async (seq) => {
          clock.advance(11_000);
          return (await session.removeAt?.(seq)) === true;
        },
      }),
      { remove: (id) => world.log.remove(id) },
    );
    expect(await move({ log: slow, clock }, archive)).toHaveLength(3);
    expect(await idsIn(world.log)).toEqual([]);
    expect(await idsIn(archive)).toEqual(["ada", "lead", "worker"]);
    await world.finish(archive);
    expect(world.begun).toEqual(["mail", "pay"]);
  });

  it("opens no copy while the first log has the session, whatever is opened between its writes", async () => {
    const world = new World();
    await world.begin();
    const { log, archive, clock } = world;
    let refusals = 0;
    /** Opens the copy as another process, which must be refused while the original is there. */
    const openCopy = async (): Promise<void> => {
      if ((await archive.open("ada")) === undefined || (await log.open("ada")) === undefined) return;
      const { ada } = world.agentsOn(archive);
      for (const access of ["run", "post", "read"] as const) {
        const opening = openSession(ada, { log: archive, id: "ada", clock, access });
        await expect(opening).rejects.toMatchObject({ code: "MoveUnfinished", owner: undefined });
        refusals += 1;
      }
    };
    const watched = (each: EventLog): EventLog =>
      withSessions(each, (session) => ({
        async append(seq, records) {
          await openCopy();
          await session.append(seq, records);
          await openCopy();
        },
        async lease(claim) {
          await openCopy();
          return await session.lease(claim);
        },
        async release(owner) {
          await session.release(owner);
          await openCopy();
        },
        async removeAt(seq) {
          await openCopy();
          return (await session.removeAt?.(seq)) === true;
        },
      }));
    expect(await move({ log: watched(log), clock }, watched(archive))).toHaveLength(3);
    expect(refusals).toBeGreaterThan(30);
    expect(await idsIn(log)).toEqual([]);
    await world.finish(archive);
    expect(world.begun).toEqual(["mail", "pay"]);
  });

  it("that is refused at its first write to the other log removes no sub-agent without records", async () => {
    const world = new World();
    await world.begin();
    const { log } = world;
    const header = await readHeader(log, "ada");
    const caller = `${identityOf("ada", header)}/call_2`;
    await log.create("sub", JSON.stringify({ ...header, incarnation: "other", caller }));
    const other = memoryLog();
    const racing: EventLog = {
      ...other,
      async create(id, text, claim) {
        if ((await other.list()).length === 0) await other.create("ada", "{}");
        return await other.create(id, text, claim);
      },
    };
    await move(world, racing).catch((error: unknown) => expect(error).toMatchObject({ code: "LogExists" }));
    expect(await idsIn(log)).toEqual(["ada", "lead", "sub", "worker"]);
    expect(await idsIn(other)).toEqual(["ada"]);
  });
});

describe("a move that ended after it had removed the originals", () => {
  /** A world whose move has removed the originals and then failed, so that all copies are closed. */
  async function closedWorld(): Promise<World> {
    const world = new World();
    await world.begin();
    const { log, archive, clock } = world;
    const failing = withSessions(archive, () => ({
      release: () => {
        throw new Error("The disk is full.");
      },
    }));
    await expect(moveSession(log, "ada", failing, { clock })).rejects.toThrow("full");
    expect(await idsIn(log)).toEqual([]);
    return world;
  }

  it("is completed by the next one, which opens the copies", async () => {
    const world = await closedWorld();
    const { log, archive, clock } = world;
    await expect(world.open(archive)).rejects.toMatchObject({
      code: "MoveUnfinished",
      message:
        "The session ada is closed: a move of it has not ended. If it was interrupted, repeat it with the same logs.",
    });
    expect(await moveSession(log, "ada", archive, { clock })).toHaveLength(3);
    await world.finish(archive);
    expect(world.begun).toEqual(["mail", "pay"]);
    await expect(moveSession(log, "ada", archive, { clock })).rejects.toMatchObject({
      code: "SessionUnknown",
    });
  });

  it("never advises to remove the copy where the first log has a new session of the id", async () => {
    const world = await closedWorld();
    const { log, archive, clock } = world;
    await (await world.open(log)).close();
    await expect(moveSession(log, "ada", archive, { clock })).rejects.toMatchObject({
      code: "MoveUnfinished",
      message: expect.stringContaining("Do not remove the one in the other log"),
    });
    expect(await pruneSessions(log, { before, archive, clock })).toMatchObject({
      pruned: [],
      kept: [{ id: "ada", reason: "leased" }],
    });
    await removeSession(log, "ada");
    expect(await moveSession(log, "ada", archive, { clock })).toHaveLength(3);
    await world.finish(archive);
    expect(world.begun).toEqual(["mail", "pay"]);
  });

  it("advises to compare the two where the copy has more records than the session of a backup", async () => {
    const { archive, clock } = await closedWorld();
    const copy = await archive.open("ada");
    const backup = memoryLog();
    const restored = await backup.create("ada", copy?.header ?? "");
    await restored.append(0, (await copy?.read())?.slice(0, 2) ?? []);
    await expect(moveSession(backup, "ada", archive, { clock })).rejects.toMatchObject({
      code: "LogExists",
      message: expect.stringContaining("Compare the two, and remove the one that is not needed"),
    });
  });

  it("opens no copy that lacks records, for a move from a log that does not have the session", async () => {
    const world = new World();
    await world.begin();
    const { log, archive, clock } = world;
    let appends = 0;
    const failing = onAppend(archive, () => {
      appends += 1;
      if (appends === 3) throw new Error("The disk is full.");
    });
    await expect(moveSession(log, "ada", failing, { clock })).rejects.toThrow("full");
    const wrong = moveSession(memoryLog(), "ada", archive, { clock });
    await expect(wrong).rejects.toMatchObject({ code: "MoveUnfinished" });
    await expect(world.open(archive)).rejects.toMatchObject({ code: "MoveUnfinished" });
    await moveSession(log, "ada", archive, { clock });
    await world.finish(archive);
    expect(world.begun).toEqual(["mail", "pay"]);
  });
});

describe("a session without records that is closed", () => {
  it("is refused as unfinished by a move, also for a copy that the move back has not filled", async () => {
    const world = new World();
    await world.begin();
    const { log, archive, clock } = world;
    const failing = withSessions(archive, () => ({
      append: () => {
        throw new Error("The disk is full.");
      },
    }));
    await expect(moveSession(log, "ada", failing, { clock })).rejects.toThrow("full");
    const back = moveSession(archive, "ada", log, { clock });
    await expect(back).rejects.toMatchObject({ code: "MoveUnfinished" });
  });

  it("is refused as incomplete by a move if its fork was interrupted, and as unfinished while it is written", async () => {
    const world = new World();
    await world.begin();
    const { log, clock } = world;
    const codes: unknown[] = [];
    const watched = withSessions(log, (session) => ({
      append: async (seq, records) => {
        const move = moveSession(log, "fork", memoryLog(), { clock });
        codes.push(await move.catch((error: unknown) => error));
        await session.append(seq, records);
      },
    }));
    await forkSession(log, "ada", 1, { as: "fork", open: "close", to: watched });
    expect(codes).toMatchObject([{ code: "MoveUnfinished" }]);
    const header = await readHeader(log, "ada");
    await log.create("left", JSON.stringify(header), { owner: newWriteHolder(), now: 0, ttlMs: 1 });
    await expect(moveSession(log, "left", memoryLog(), { clock })).rejects.toMatchObject({
      code: "SessionIncomplete",
    });
  });
});
