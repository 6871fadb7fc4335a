import { memoryLog, type EventLog } from "@moora/event-log";
import { expect, it } from "vitest";
import { moveSession, SessionError } from "../../src/index.ts";
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

/** Begins a move to the archive that ends after some writes. Returns whether all its writes were made. */
async function beginMove({ log, archive, clock }: World, left: number): Promise<boolean> {
  const writes = { left };
  const move = moveSession(interrupted(log, writes), "ada", interrupted(archive, writes), { clock });
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
