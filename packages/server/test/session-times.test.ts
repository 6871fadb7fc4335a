import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LogError } from "@moora/agent";
import { sessionPageSchema } from "@moora/agent-webui-protocol";
import { memoryLog, type DisposableLog, type EventLog } from "@moora/event-log";
import { jsonlLog } from "@moora/event-log/jsonl";
import { sqliteLog } from "@moora/event-log/sqlite";
import { withSessions } from "@moora/event-log/testing";
import { answers } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { TestClock } from "@moora/testbed/test-clock";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Scene, type Client } from "@moora/testbed/server/scene";

const talker = () => agentOf(() => answers("Hello."));

let directory: string;
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), "moora-times-"))));
afterEach(() => rmSync(directory, { recursive: true }));

const logs: readonly (readonly [string, () => DisposableLog])[] = [
  ["in memory", () => memoryLog()],
  ["in files", () => jsonlLog(directory)],
  ["in SQLite", () => sqliteLog(join(directory, "log.db"))],
];

/** The sessions of a user, by id. */
async function listed(client: Client) {
  const { sessions } = sessionPageSchema.parse((await client.get("/sessions")).body);
  return Object.fromEntries(sessions.map((session) => [session.id, session]));
}

/** Posts a message, and waits for the answer. Returns its last record. */
async function talk(client: Client, id: string): Promise<number> {
  await using stream = await client.events(id);
  await client.post(`/sessions/${id}/messages`, { content: "Hi" });
  return (await stream.until("re-act-observed")).seq;
}

describe.each(logs)("the times of sessions in a log %s", (_, open) => {
  it("are those of their last records", async () => {
    const clock = new TestClock();
    await using scene = new Scene(talker(), { log: open(), clock });
    const ada = scene.as("ada");
    const [first, second] = [await ada.create(), await ada.create()];
    const created = clock.now();
    await clock.advanceAsync(60_000);
    const seq = await talk(ada, first);
    const sessions = await listed(ada);
    expect(sessions[first]).toMatchObject({ id: first, agent: "helper", seq, updatedAt: created + 60_000 });
    expect(sessions[second]).toMatchObject({ id: second, agent: "helper", seq: 1, updatedAt: created });
  });
});

describe("the times of sessions", () => {
  it("cost one record of each session that has not changed since the list before, however long it is", async () => {
    const reads: unknown[][] = [];
    const log = memoryLog();
    const counted = withSessions(log, (session) => ({
      read: (...range) => (reads.push(range), session.read(...range)),
    }));
    await using scene = new Scene(talker(), { log: counted });
    const ada = scene.as("ada");
    const id = await ada.create();
    for (let loops = 0; loops < 3; loops += 1) await talk(ada, id);
    const { seq } = (await listed(ada))[id] ?? {};
    reads.length = 0;
    await ada.get("/sessions");
    expect(reads).toEqual([[(seq ?? 0) - 1, 1]]);
  });

  it.each(["LogCorrupt", "LogRemoved"] as const)(
    "are missing where the last record cannot be read (%s), and the list has the session",
    async (code) => {
      const log = memoryLog();
      let isReadable = true;
      const failing: EventLog = withSessions(log, (session) => ({
        read: (...range) => {
          if (!isReadable) throw new LogError(code, "The record cannot be read.");
          return session.read(...range);
        },
      }));
      await using scene = new Scene(talker(), { log: failing });
      const ada = scene.as("ada");
      const id = await ada.create();
      isReadable = false;
      expect(Object.keys((await listed(ada))[id] ?? {})).toEqual(["id", "agent", "seq"]);
      isReadable = true;
      expect((await listed(ada))[id]).toMatchObject({ updatedAt: expect.any(Number) });
    },
  );

  it("are missing for a fork that is removed while its lease is read, and the list has the others", async () => {
    const log = memoryLog();
    let isListing = false;
    const removing = withSessions(log, (session) => ({
      currentLease: async () => {
        if (isListing && JSON.parse(session.header).parent !== undefined) await log.remove(session.id);
        return await session.currentLease();
      },
    }));
    await using scene = new Scene(talker(), { log: removing });
    const ada = scene.as("ada");
    const id = await ada.create();
    const { body: fork } = await ada.post(`/sessions/${id}/fork`);
    isListing = true;
    const sessions = await listed(ada);
    expect(sessions[id]).toMatchObject({ updatedAt: expect.any(Number) });
    expect(Object.keys(sessions[fork.id] ?? {})).toEqual(["id", "agent", "seq"]);
    expect(Object.keys(await listed(ada))).toEqual([id]);
  });

  it("open the log of each session once, also that of a fork", async () => {
    const opened: string[] = [];
    const log = memoryLog();
    const counted: EventLog = withSessions(log, () => ({}), {
      open: (id) => (opened.push(id), log.open(id)),
    });
    await using scene = new Scene(talker(), { log: counted });
    const ada = scene.as("ada");
    const id = await ada.create();
    const { body: fork } = await ada.post(`/sessions/${id}/fork`);
    opened.length = 0;
    await ada.get("/sessions");
    expect(new Set(opened)).toEqual(new Set([id, fork.id]));
    expect(opened).toHaveLength(2);
  });
});
