import { setTimeout as delay } from "node:timers/promises";
import { effectsAt, stateAt, verifySession, type AgentState } from "@moora/agent";
import { postgresLog } from "@moora/event-log-postgres";
import { poolOn } from "@moora/testbed/postgres/server";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import type { ReleaseOrders } from "./children/releases.ts";
import { createPreparedDatabase } from "./databases.ts";
import { HostProcess } from "./host-process.ts";
import { isDone, message } from "./support.ts";

const id = "ada";

let url: string;
let log: ReturnType<typeof postgresLog>;
let processes: HostProcess[] = [];

beforeEach(async () => {
  url = await createPreparedDatabase(inject("postgresUrl"));
  log = postgresLog(url);
});

afterEach(async () => {
  for (const launched of processes) await launched[Symbol.asyncDispose]();
  processes = [];
  await log.close();
});

async function launch(
  release: ReleaseOrders["release"],
  orders: Partial<ReleaseOrders> = {},
): Promise<HostProcess> {
  const launched = new HostProcess("releases.ts", {
    url,
    executor: `executor ${processes.length + 1}`,
    release,
    ...orders,
  } satisfies ReleaseOrders);
  processes.push(launched);
  await launched.launched();
  return launched;
}

async function until(isReached: (state: AgentState) => boolean): Promise<AgentState> {
  for (;;) {
    const { state } = await stateAt(log, id);
    if (isReached(state)) return state;
    await delay(20);
  }
}

/** Waits until a workflow has a status. `end`: how its id ends. */
async function untilStatus(status: "ERROR" | "ENQUEUED", end: string): Promise<void> {
  const pool = poolOn(url);
  const found = "SELECT 1 FROM dbos.workflow_status WHERE status = $1 AND workflow_uuid LIKE $2";
  while ((await pool.query(found, [status, `%${end}`])).rows.length === 0) await delay(20);
  await pool.end();
}

/** Whether the session has ended all its work. */
const isIdle = (state: AgentState): boolean => isDone(state) && Object.keys(effectsAt(state)).length === 0;

const post = (host: HostProcess, content: string, key: string): Promise<string> =>
  host.send({ type: "post", id, input: message(content, key), key });

const messagesOf = ({ messages }: AgentState): readonly unknown[] =>
  messages.filter(({ role }) => role === "user").map(({ content }) => content);

const codes = ({ toolCalls }: AgentState): readonly unknown[] =>
  Object.values(toolCalls).map(({ result }) => (result?.isSuccess === false ? result.code : result?.content));

describe(
  "two releases of an agent on DBOS, the later one with another version of its data",
  { timeout: 240_000 },
  () => {
    it.each(["count", "countNow"])(
      "a tool of the earlier one does not change data that the later one has converted: %s",
      async (tool) => {
        const earlier = await launch(1, { holds: true });
        const later = await launch(2);
        await post(earlier, tool, "one");
        await earlier.prints(/^began/m);
        expect(await post(later, "Hello.", "two")).toBe("true");
        await earlier.send({ type: "release" });
        const state = await until(isDone);
        expect(codes(state)).toEqual(["data-refused"]);
        expect(state.data).toEqual({ count: "0" });
        expect(await post(later, "count", "three")).toBe("true");
        expect((await until(({ data }) => Object(data).count === "7")).dataStatus?.version).toBe(2);
        await verifySession(log, id);
      },
    );

    it("a post that the earlier one has refused can be made at the later one, with its key", async () => {
      const earlier = await launch(1);
      const later = await launch(2);
      await post(later, "First.", "first");
      expect(await post(earlier, "Hello.", "key")).toBe("DataRefused DataRefused");
      expect(await post(earlier, "Hello.", "key")).toBe("DataRefused DataRefused");
      expect(await post(later, "Hello.", "key")).toBe("true");
      expect(await post(later, "Hello.", "key")).toBe("true");
      expect(await post(later, "Another.", "key")).toBe("InputRefused key-reused");
      expect(messagesOf(await until(isDone))).toEqual(["First.", "Hello."]);
    });

    it.each(["before", "after"] as const)(
      "a post of a process that is killed %s its append is made once, also if the earlier one takes it over",
      async (killed) => {
        const ends = await launch(2, { takesOver: true, killed });
        expect(await post(ends, "First.", "first")).toBe("true");
        await until(isDone);
        await launch(1, { takesOver: true });
        void post(ends, "fatal", "key");
        await ends.ended;
        await untilStatus("ERROR", "/post/key");
        const later = await launch(2, { takesOver: true });
        const again = { ...message("fatal", "another id"), timestamp: Date.now() };
        expect(await later.send({ type: "post", id, input: again, key: "key" })).toBe("true");
        const state = await until((newest) => isDone(newest) && messagesOf(newest).length === 2);
        expect(messagesOf(state)).toEqual(["First.", "fatal"]);
      },
    );

    it("work that the earlier one takes over waits there for the end of its process, and then continues at the later one", async () => {
      const ends = await launch(2, { takesOver: true, holds: true });
      await post(ends, "count", "one");
      await ends.prints(/^began/m);
      const earlier = await launch(1, { takesOver: true });
      await ends.kill();
      await earlier.prints(/^refused DataRefused$/m);
      await launch(2, { takesOver: true });
      expect((await stateAt(log, id)).state.toolCalls["call_1"]?.result).toBeNull();
      await earlier.kill();
      const state = await until(isDone);
      expect(state.data).toEqual({ count: "7" });
      expect(earlier.output).not.toContain("began");
    });

    it("a process of another applicationVersion leaves the work of a killed one to a process of the same", async () => {
      const ends = await launch(1, { takesOver: true, holds: true });
      await post(ends, "count", "one");
      await ends.prints(/^began/m);
      const later = await launch(2, { takesOver: true, applicationVersion: "2" });
      await ends.kill();
      await untilStatus("ENQUEUED", "");
      const same = await launch(1, { takesOver: true });
      expect((await until(isIdle)).data).toEqual({ count: 7 });
      expect(same.output).toContain("began");
      expect(await post(later, "count", "two")).toBe("true");
      expect((await until(({ data }) => Object(data).count === "7")).dataStatus?.version).toBe(2);
    });
  },
);
