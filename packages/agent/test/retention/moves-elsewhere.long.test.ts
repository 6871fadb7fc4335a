import { memoryLog, type EventLog } from "@moora/event-log";
import { expect, it } from "vitest";
import { moveSession, removeSession, SessionError } from "../../src/index.ts";
import { World } from "./family-world.ts";
import { ends, interrupted } from "./interruptions.ts";

const isClosed = (error: unknown): boolean =>
  error instanceof SessionError && error.code === "MoveUnfinished";

const isUnfinished = (error: unknown): undefined => {
  if (isClosed(error) || (error instanceof SessionError && error.code === "SessionUnknown")) return undefined;
  throw error;
};

/** The logs in which the session can be run. */
async function openableIn(world: World, logs: readonly EventLog[]): Promise<readonly EventLog[]> {
  const openable: EventLog[] = [];
  for (const log of logs) {
    if ((await log.open("ada")) === undefined) continue;
    const session = await world.open(log).catch(isUnfinished);
    if (session === undefined) continue;
    openable.push(log);
    await session.close();
    world.clock.advance(60_000);
  }
  return openable;
}

/** Begins a move that ends after some writes, by default to the archive. Returns whether all its writes were made. */
async function beginMove(
  { log, archive, clock }: World,
  left: number,
  { to = archive, isCopyLost = false }: { readonly to?: EventLog; readonly isCopyLost?: boolean } = {},
): Promise<boolean> {
  const writes = { left };
  const move = moveSession(interrupted(log, writes), "ada", interrupted(to, writes), { clock, isCopyLost });
  return await ends(move).finally(() => clock.advance(60_000));
}

it("opens no copy of a move that was interrupted at any write after the session was moved to a third log", async () => {
  let isComplete = false;
  const outcomes = { moved: 0, refused: 0 };
  for (let left = 0; !isComplete; left += 1) {
    const world = new World();
    const third = memoryLog();
    await world.begin();
    isComplete = await beginMove(world, left);
    const { log, archive, clock } = world;
    const logs = [log, archive, third];
    for (const each of await openableIn(world, logs)) await world.finish(each);
    const moved = await moveSession(log, "ada", third, { clock }).catch(isUnfinished);
    outcomes[moved === undefined ? "refused" : "moved"] += 1;
    clock.advance(60_000);
    await moveSession(log, "ada", archive, { clock }).catch(isUnfinished);
    clock.advance(60_000);
    const openable = await openableIn(world, logs);
    expect(openable, `after ${left} writes`).toHaveLength(1);
    for (const each of openable) await world.finish(each);
    expect(world.begun, `after ${left} writes`).toEqual(["mail", "pay"]);
  }
  expect(Math.min(outcomes.moved, outcomes.refused)).toBeGreaterThan(2);
});

it("moves a closed session to a third log where the copy is lost", async () => {
  let lost = 0;
  for (let left = 0, isComplete = false; !isComplete; left += 1) {
    const world = new World();
    await world.begin();
    isComplete = await beginMove(world, left);
    const { log, clock } = world;
    const third = memoryLog();
    if ((await log.open("ada")) === undefined) continue;
    const refused = await moveSession(log, "ada", third, { clock }).catch(isUnfinished);
    if (refused !== undefined) continue;
    clock.advance(60_000);
    await moveSession(log, "ada", third, { clock, isCopyLost: true });
    await world.finish(third);
    expect(world.begun).toEqual(["mail", "pay"]);
    lost += 1;
  }
  expect(lost).toBeGreaterThan(1);
});

/** Begins a move to the archive that ends after some writes. Undefined unless it leaves closed originals. */
async function closedWorld(left: number): Promise<World | undefined> {
  const world = new World();
  await world.begin();
  await beginMove(world, left);
  const { log, archive } = world;
  const isOpen = (await openableIn(world, [log, archive])).length > 0;
  return isOpen || (await log.open("ada")) === undefined ? undefined : world;
}

/** The first and the last number of writes after which a move leaves closed originals. */
async function writesToClose(): Promise<readonly [number, number]> {
  let left = 0;
  while ((await closedWorld(left)) === undefined) left += 1;
  const first = left;
  while ((await closedWorld(left + 1)) !== undefined) left += 1;
  return [first, left];
}

it("runs one copy where a lost copy comes back, at whatever write each move was interrupted", async () => {
  const outcomes = { completed: 0, complete: 0 };
  for (const closing of await writesToClose()) {
    for (let left = 0, isComplete = false; !isComplete; left += 1) {
      const world = await closedWorld(closing);
      if (world === undefined) throw new Error("The originals are not closed.");
      const { log, archive, clock } = world;
      const third = memoryLog();
      const logs = [log, archive, third];
      isComplete = await beginMove(world, left, { to: third, isCopyLost: true });
      // The archive comes back.
      if ((await openableIn(world, [third])).length === 0) {
        await moveSession(log, "ada", third, { clock, isCopyLost: true });
        outcomes.completed += 1;
      } else outcomes.complete += 1;
      clock.advance(60_000);
      await expect(moveSession(log, "ada", archive, { clock })).rejects.toSatisfy(isClosed);
      await expect(moveSession(log, "ada", archive, { clock, isCopyLost: true })).rejects.toSatisfy(isClosed);
      await expect(world.open(log)).rejects.toMatchObject({ code: "MoveUnfinished" });
      expect(await openableIn(world, logs), `after ${closing} and ${left} writes`).toEqual([third]);
      await world.finish(third);
      expect(world.begun).toEqual(["mail", "pay"]);
    }
  }
  expect(Math.min(outcomes.completed, outcomes.complete)).toBeGreaterThan(1);
});

it("keeps a closed original until it is removed, and does not move the session back before that", async () => {
  const [closing] = await writesToClose();
  const world = await closedWorld(closing);
  if (world === undefined) throw new Error("The originals are not closed.");
  const { log, clock } = world;
  const third = memoryLog();
  await moveSession(log, "ada", third, { clock, isCopyLost: true });
  expect(await log.list()).toHaveLength(3);
  await expect(world.open(log)).rejects.toThrow("Remove it when that copy cannot come back.");
  await world.finish(third);
  await expect(moveSession(third, "ada", log, { clock })).rejects.toThrow("an earlier copy of it was lost");
  clock.advance(60_000);
  expect(await removeSession(log, "ada")).toHaveLength(3);
  await moveSession(third, "ada", log, { clock });
  await (await world.open(log)).close();
  clock.advance(60_000);
  await moveSession(log, "ada", third, { clock });
  expect(await log.list()).toEqual([]);
  expect(world.begun).toEqual(["mail", "pay"]);
});
