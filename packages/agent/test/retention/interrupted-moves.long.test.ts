import { memoryLog, recordAfter, type EventLog } from "@moora/event-log";
import { describe, expect, it } from "vitest";
import {
  exportSession,
  forkSession,
  moveSession,
  openSession,
  openSharedSession,
  pruneSessions,
  readSession,
  removeSession,
  SessionError,
  verifySession,
  type DurableSession,
} from "../../src/index.ts";
import { closesSession, unfinishedMove } from "../../src/durable/closed-copy.ts";
import { holderOf } from "../../src/durable/lease-holder.ts";
import { World } from "./family-world.ts";
import { ends, Interrupted, interrupted, type Writes } from "./interruptions.ts";

type Operation = (world: World, log: EventLog, archive: EventLog) => Promise<unknown>;

const before = 1e12;
const operations = {
  "a move": ({ clock }, log, archive) => moveSession(log, "ada", archive, { clock }),
  "an archiving": ({ clock }, log, archive) => pruneSessions(log, { before, archive, clock }),
  "a pruning": ({ clock }, log) => pruneSessions(log, { before, clock }),
  "a removal": (_, log) => removeSession(log, "ada"),
} satisfies Readonly<Record<string, Operation>>;

/** Whether the operation ends before the writes do; otherwise the process ends with them. */
async function runWith(writes: Writes, operation: Operation, world: World): Promise<boolean> {
  const work = operation(world, interrupted(world.log, writes), interrupted(world.archive, writes));
  return await ends(work).finally(() => world.clock.advance(60_000));
}

const idsIn = async (log: EventLog): Promise<readonly string[]> => (await log.list()).map(({ id }) => id);

const ids = async (log: EventLog): Promise<readonly string[]> =>
  (await idsIn(log)).map((id) => id.replace(/-.*/, ""));

const unfinished = {
  code: "MoveUnfinished",
  message:
    "The session ada is closed: a move of it has not ended. If it was interrupted, repeat it with the same logs.",
};

/** Checks that a copy in the archive cannot be run while its original is in the log. Returns whether there is one. */
async function checkClosedCopy(world: World): Promise<boolean> {
  const { log, archive, clock } = world;
  if ((await log.open("ada")) === undefined || (await archive.open("ada")) === undefined) return false;
  await expect(world.open(archive)).rejects.toMatchObject(unfinished);
  await expect(moveSession(archive, "ada", log, { clock })).rejects.toMatchObject({ name: "SessionError" });
  expect(await pruneSessions(archive, { before, clock })).toMatchObject({ pruned: [] });
  return true;
}

/** Whether the copy in the archive is closed although no log has the original. */
async function isLeftClosed({ log, archive }: World): Promise<boolean> {
  return (await log.open("ada")) === undefined && (await isClosed(archive));
}

/** Whether no process can open the session of a log. */
async function isClosed(log: EventLog): Promise<boolean> {
  const lease = await (await log.open("ada"))?.currentLease();
  return lease !== undefined && closesSession(lease.owner);
}

describe.each(Object.entries(operations))("%s that is interrupted at any write", (name, operation) => {
  it("runs no tool twice where the session is opened next, and is completed by the next one", async () => {
    let isComplete = false;
    let refusals = 0;
    let completions = 0;
    let repetitions = 0;
    for (let left = 0; !isComplete; left += 1) {
      const world = new World();
      await world.begin();
      isComplete = await runWith({ left }, operation, world);
      if (await checkClosedCopy(world)) refusals += 1;
      if (await isLeftClosed(world)) {
        await expect(world.open(world.archive)).rejects.toMatchObject(unfinished);
        await moveSession(world.log, "ada", world.archive, { clock: world.clock });
        expect(await ids(world.log)).toEqual([]);
        completions += 1;
      }
      if (await isClosed(world.log)) {
        for (const log of [world.log, world.archive])
          await expect(world.open(log)).rejects.toMatchObject(unfinished);
        await expect(removeSession(world.log, "ada")).rejects.toMatchObject({ code: unfinished.code });
        await operation(world, world.log, world.archive);
        repetitions += 1;
      }
      const isInLog = (await world.log.open("ada")) !== undefined;
      const isInArchive = (await world.archive.open("ada")) !== undefined;
      if (isInLog) await world.finish(world.log);
      else if (isInArchive) await world.finish(world.archive);
      const expected = isInLog || isInArchive ? ["mail", "pay"] : ["mail"];
      expect(world.begun, `after ${left} writes`).toEqual(expected);
      if ((await ids(world.log)).length > 0) await operation(world, world.log, world.archive);
      expect(await ids(world.log), `after ${left} writes`).toEqual([]);
      for (const { id } of await world.archive.list())
        expect(await verifySession(world.archive, id)).toMatchObject({ ok: true });
      const archived = await ids(world.archive);
      expect(archived).toEqual(archived.length === 0 ? [] : ["ada", "lead", "worker"]);
      if (archived.length > 0) await world.finish(world.archive);
      expect(world.begun, `after ${left} writes`).toEqual(expected);
    }
    const isMove = operation === operations["a move"] || operation === operations["an archiving"];
    expect(refusals > 0, name).toBe(isMove);
    expect(completions > 0, name).toBe(isMove);
    expect(repetitions > 0, name).toBe(isMove);
  });
});

const isUnfinished = (error: unknown): boolean =>
  error instanceof SessionError && error.code === "MoveUnfinished";

/** Opens a copy in every way but as its owner, and posts to it. Returns whether that was accepted; else every way is refused. */
async function postTo(world: World, id: string): Promise<boolean> {
  const { archive: log, clock } = world;
  const { ada, lead, worker } = world.agentsOn(log);
  const agent = id === "ada" ? ada : id.startsWith("lead") ? lead : worker;
  const ways = [
    async () => {
      await using post = await openSession(agent, { log, id, clock, access: "post" });
      await post.send(`To ${id}.`);
    },
    async () => await (await openSession(agent, { log, id, clock, access: "read" })).close(),
    async () => void (await openSharedSession(agent, { log, id, clock })),
    async () => void (await exportSession(log, id)),
    async () => void (await forkSession(log, id, 1, { as: `fork-${id}`, open: "close", to: memoryLog() })),
  ];
  const refused: boolean[] = [];
  for (const way of ways) {
    try {
      await way();
      refused.push(false);
    } catch (error) {
      if (!isUnfinished(error)) throw error;
      refused.push(true);
    }
  }
  expect(new Set(refused).size, id).toBe(1);
  return refused[0] === false;
}

describe.each(["a move", "an archiving"] as const)("%s that is interrupted at any write", (name) => {
  const operation = operations[name];

  it("loses no message that its copies accepted, and is completed by the next one", async () => {
    let isComplete = false;
    const outcomes = { accepted: 0, refused: 0 };
    for (let left = 0; !isComplete; left += 1) {
      const world = new World();
      await world.begin();
      isComplete = await runWith({ left }, operation, world);
      const accepted: string[] = [];
      for (const id of await idsIn(world.archive)) {
        const isAccepted = await postTo(world, id);
        if (isAccepted) accepted.push(id);
        outcomes[isAccepted ? "accepted" : "refused"] += 1;
      }
      if ((await ids(world.log)).length > 0 || (await isLeftClosed(world)))
        await moveSession(world.log, "ada", world.archive, { clock: world.clock });
      expect(await ids(world.log), `after ${left} writes`).toEqual([]);
      expect(await ids(world.archive)).toEqual(["ada", "lead", "worker"]);
      for (const id of accepted) {
        const { inputs } = await readSession(world.archive, id);
        expect(inputs.some((input) => JSON.stringify(input).includes(`To ${id}.`))).toBe(true);
        expect(await verifySession(world.archive, id)).toMatchObject({ ok: true });
      }
    }
    expect(Math.min(outcomes.accepted, outcomes.refused)).toBeGreaterThan(3);
  });
});

describe("the lease of a move", () => {
  it("is taken after the creation of a copy in a log that creates sessions without one", async () => {
    const world = new World();
    await world.begin();
    const { log, archive, clock } = world;
    const other: EventLog = { ...archive, create: (id, header) => archive.create(id, header) };
    const writes = { left: 2 };
    const move = moveSession(log, "ada", interrupted(other, writes), { clock });
    await expect(move).rejects.toBeInstanceOf(Interrupted);
    await expect(world.open(archive)).rejects.toMatchObject(unfinished);
    await moveSession(log, "ada", other, { clock });
    expect(await ids(archive)).toEqual(["ada", "lead", "worker"]);
    await world.finish(archive);
    expect(world.begun).toEqual(["mail", "pay"]);
  });

  it("keeps a copy with records of a newer release closed", async () => {
    const world = new World();
    await world.begin();
    const session = await world.log.open("ada");
    const head = (await session?.read())?.at(-1);
    if (session === undefined || head === undefined) throw new Error("The session has no records.");
    await session.append(head.seq, [recordAfter(head, '{"type":"of-a-newer-release"}', "changed")]);
    const { log, clock } = world;
    const open = (): Promise<DurableSession> =>
      openSession(world.agentsOn(log).ada, { log, id: "ada", clock, onError: () => undefined });
    await using opened = await open();
    expect(opened.info().access).toBe("read");
    await session.lease({ owner: unfinishedMove, now: 0, ttlMs: 1e15 });
    await expect(open()).rejects.toMatchObject(unfinished);
  });

  it("is not waited for when its process has ended on the same machine, and neither is that of a session", async () => {
    const [host = "", fingerprint = "", lease = ""] = holderOf("here").split("#");
    const [pid = "", , machine = ""] = fingerprint.split("/");
    const owner = [host, `${pid}/1/${machine}`, lease].join("#");
    for (const operation of Object.values(operations)) {
      const world = new World();
      await world.begin();
      const now = world.clock.now();
      for (const log of [world.log, world.archive])
        for (const id of await idsIn(log)) await (await log.open(id))?.lease({ owner, now, ttlMs: 1e9 });
      await operation(world, world.log, world.archive);
      expect(await world.log.list()).toEqual([]);
    }
  });
});
