import type { EventLog } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import { describe, expect, it } from "vitest";
import { pruneSessions, readSession, removeSession, type PruneReport } from "../../src/index.ts";
import { newWriteHolder } from "../../src/durable/unfinished-write.ts";
import { World } from "./family-world.ts";

/** The requests of a client to a log, before one of which another client removes a session. */
interface Requests {
  left: number;
}

/** A log of a client that is slower than another one, which removes a session before the last of some requests. */
function overtaken(log: EventLog, id: string, requests: Requests): EventLog {
  const request = async <Value>(work: () => Value | Promise<Value>): Promise<Value> => {
    requests.left -= 1;
    if (requests.left === 0) await log.remove(id);
    return await work();
  };
  return withSessions(log, (session) => ({
    read: (afterSeq, limit) => request(() => session.read(afterSeq, limit)),
    head: () => request(() => session.head()),
    currentLease: () => request(() => session.currentLease()),
    lease: (claim) => request(() => session.lease(claim)),
    release: (owner) => request(() => session.release(owner)),
    snapshot: () => request(() => session.snapshot()),
    removeAt: (seq) => request(() => session.removeAt?.(seq) ?? false),
  }));
}

/** A world with a family, one of whose sessions is that of a sub-agent, and with what an interrupted fork has left. */
async function begun(): Promise<World> {
  const world = new World();
  await world.begin();
  const { header } = (await world.log.open("ada")) ?? { header: "" };
  await world.log.create("copy", header, { owner: newWriteHolder(), now: 0, ttlMs: 1 });
  return world;
}

const before = 1e12;
const prune = async ({ clock }: World, log: EventLog): Promise<PruneReport> =>
  await pruneSessions(log, { before, clock });

const operations = {
  pruneSessions: prune,
  "pruneSessions with an archive": ({ archive, clock }, log) =>
    pruneSessions(log, { before, archive, clock }),
  "pruneSessions with dryRun": ({ clock }, log) => pruneSessions(log, { before, clock, dryRun: true }),
  removeSession: (_, log) => removeSession(log, "ada"),
} satisfies Readonly<Record<string, (world: World, log: EventLog) => Promise<unknown>>>;

describe.each(Object.entries(operations))("%s", (_, operation) => {
  it.each(["ada", "lead", "worker", "copy"])(
    "does not reject where another client removes a session of it at any moment: %s",
    async (name) => {
      let isOvertaken = true;
      let count = 0;
      while (isOvertaken) {
        count += 1;
        const world = await begun();
        const id = (await world.log.list()).find((info) => info.id.startsWith(name))?.id ?? "";
        const requests = { left: count };
        await operation(world, overtaken(world.log, id, requests));
        isOvertaken = requests.left <= 0;
        world.clock.advance(60_000);
      }
      expect(count).toBeGreaterThan(3);
    },
  );
});

describe("pruneSessions where another client is faster", () => {
  it("reports what it has removed, and that the other session has changed", async () => {
    const world = await begun();
    const { records } = await readSession(world.log, "ada");
    expect(records.length).toBeGreaterThan(0);
    const log = withSessions(world.log, (session) => ({
      removeAt: async (seq) => {
        if (session.id === "ada") await world.log.remove("ada");
        return (await session.removeAt?.(seq)) ?? false;
      },
    }));
    const report = await prune(world, log);
    // Its sub-agents are sessions of their own now.
    expect(report).toMatchObject({ kept: [{ id: "ada", reason: "changed" }], incomplete: ["copy"] });
    expect(report.pruned).not.toContain("ada");
  });
});
