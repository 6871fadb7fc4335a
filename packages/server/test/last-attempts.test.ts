import { openSession, stateAt, type EventLog } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, callsTools } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { TestClock, turn } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { Scene } from "@moora/testbed/server/scene";
import { pollsUntil, toolOf } from "./support.ts";

/** An agent whose tool waits for `until`, and calls `onBegin` before. */
const searcher = (until: Promise<void>, onBegin: () => void = () => undefined) =>
  agentOf(
    ({ messages }) =>
      messages.at(-1)?.role === "user" ? callsTools([{ name: "search" }]) : answers("Done."),
    {
      tools: [
        toolOf(
          "search",
          async () => {
            onBegin();
            await until;
            return "found";
          },
          { replay: "safe" },
        ),
      ],
    },
  );

/** Creates a session that `ends` processes have left in the middle of its call. They did not give back its lease. */
async function leftByCrashes(log: EventLog, clock: TestClock, id: string, ends: number): Promise<void> {
  const never = new Promise<void>(() => undefined);
  for (let end = 1; end <= ends; end += 1) {
    const begun = Promise.withResolvers<void>();
    const session = await openSession(searcher(never, begun.resolve), { log, id, clock });
    if (end === 1) await session.send("Search.");
    await begun.promise;
    await session.close();
  }
  await (await log.open(id))?.lease({ owner: "dead", now: clock.now(), ttlMs: 1 });
}

const resultOf = async (log: EventLog, id: string) =>
  (await stateAt(log, id)).state.toolCalls["call_1"]?.result;

describe("a worker, and sessions whose calls have one attempt left", () => {
  it("runs one of them at a time, beside sessions that have more", async () => {
    const clock = new TestClock();
    const log = memoryLog();
    for (const id of ["a", "b", "c"]) await leftByCrashes(log, clock, id, 2);
    await leftByCrashes(log, clock, "d", 1);
    const release = Promise.withResolvers<void>();
    let begun = 0;
    await using worker = new Scene(
      searcher(release.promise, () => (begun += 1)),
      { log, clock, worker: true },
    );
    await clock.advanceAsync(20_000);
    for (let turns = 0; turns < 50; turns += 1) await turn();
    expect(begun).toBe(2);
    release.resolve();
    for (const id of ["a", "b", "c", "d"]) {
      await pollsUntil(clock, async () =>
        expect(await resultOf(log, id)).toMatchObject({ isSuccess: true, content: "found" }),
      );
    }
    expect(worker.errors).toEqual([]);
  });

  it("gives up one that its process has left in its last attempt", async () => {
    const clock = new TestClock();
    const log = memoryLog();
    await leftByCrashes(log, clock, "a", 3);
    await leftByCrashes(log, clock, "b", 2);
    await using worker = new Scene(searcher(Promise.resolve()), { log, clock, worker: true });
    await pollsUntil(clock, async () =>
      expect(await resultOf(log, "a")).toMatchObject({ code: "crash-loop" }),
    );
    await pollsUntil(clock, async () => expect(await resultOf(log, "b")).toMatchObject({ isSuccess: true }));
    expect(worker.errors).toEqual([]);
  });
});
