import type { WorkflowHandle, WorkflowStatus } from "@dbos-inc/dbos-sdk";
import { newSessionHeader, userMessage, type LogError } from "@moora/agent";
import { dbosLog, type DbosLogOptions } from "@moora/dbos";
import { memoryLog, type EventLog, type SessionLog } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { postedRecords, servedAgent } from "./server-scene.ts";

const agent = servedAgent([]);

/** What a test gives in place of DBOS. */
interface Script {
  /** The status of the workflow of an append at a look, from 1 on. */
  readonly statusAt: (look: number) => string;
  readonly onEnqueue?: () => unknown;
}

/** A client whose workflows have the statuses of a script and append at last. The number of looks is that of all its workflows. */
function scriptedClient({ statusAt, onEnqueue }: Script): {
  readonly client: DbosLogOptions["client"];
  readonly looks: () => number;
} {
  let looks = 0;
  const getStatus = async (): Promise<Partial<WorkflowStatus>> => {
    looks += 1;
    return { status: statusAt(looks) };
  };
  const handle = { getStatus, getResult: async () => ({ type: "appended" }) };
  const enqueue = async (): Promise<WorkflowHandle<never>> => {
    await onEnqueue?.();
    return handle as never;
  };
  return { client: { enqueue: enqueue as never }, looks: () => looks };
}

/** A session of DBOS on a log, and an append of a message to it. */
async function sessionOn(
  log: EventLog,
  options: Omit<DbosLogOptions, "log">,
): Promise<{ readonly session: SessionLog; readonly post: () => Promise<void> }> {
  const session = await dbosLog({ log, ...options }).create("ada", newSessionHeader(agent, "ada"));
  const records = await postedRecords(session, userMessage("Hi"));
  return { session, post: async () => await session.append(0, records) };
}

const codeOf = async (appended: Promise<void>): Promise<unknown> =>
  await appended.then(
    () => "appended",
    ({ code }: LogError) => code,
  );

describe("an append of a dbosLog", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
  afterEach(() => void vi.useRealTimers());

  it("has the result of a workflow that has ended in its last wait", async () => {
    const { client } = scriptedClient({ statusAt: (look) => (look === 1 ? "PENDING" : "SUCCESS") });
    const { post } = await sessionOn(memoryLog(), { client, waitMs: 1 });
    expect(await codeOf(post())).toBe("appended");
  });

  it("waits for its time, also where each look takes long", async () => {
    const statusAt = (): string => {
      vi.setSystemTime(Date.now() + 1_000);
      return "ENQUEUED";
    };
    const { client, looks } = scriptedClient({ statusAt });
    const { post } = await sessionOn(memoryLog(), { client, waitMs: 1_500 });
    expect(await codeOf(post())).toBe("LogWrite");
    expect(looks()).toBe(3);
  });

  it("rejects with LogRemoved if the session is removed while it waits", async () => {
    const log = memoryLog();
    const onEnqueue = async () => await log.remove("ada");
    const { client } = scriptedClient({ statusAt: () => "PENDING", onEnqueue });
    const { post } = await sessionOn(log, { client, waitMs: 1 });
    expect(await codeOf(post())).toBe("LogRemoved");
  });
});

describe("a session of a dbosLog", () => {
  const { client } = scriptedClient({ statusAt: () => "SUCCESS" });

  it("has removeAt if that of the log has it", async () => {
    const { session } = await sessionOn(memoryLog(), { client });
    expect(await session.removeAt?.(7)).toBe(false);
    const without = await sessionOn(
      withSessions(memoryLog(), () => ({})),
      { client },
    );
    expect(without.session.removeAt).toBeUndefined();
  });

  it("is not created where a process runs it already, on a log that ignores claims", async () => {
    const memory = memoryLog();
    const log = withSessions(memory, () => ({}), {
      async create(id, header) {
        const session = await memory.create(id, header);
        await session.lease({ owner: "the other", now: Date.now(), ttlMs: 60_000 });
        return session;
      },
    });
    await expect(sessionOn(log, { client })).rejects.toEqual(
      expect.objectContaining({ code: "SessionBusy", owner: "the other" }),
    );
  });
});
