import { stateAt, type AgentInput, type AgentState } from "@moora/agent";
import { postgresLog } from "@moora/event-log-postgres";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import type { KeyedPostOrders } from "./children/keyed-posts.ts";
import { createPreparedDatabase } from "./databases.ts";
import { HostProcess } from "./host-process.ts";
import { message } from "./support.ts";

let url: string;
let log: ReturnType<typeof postgresLog>;
let other: HostProcess;
let sessions = 0;
let id = "";

beforeAll(async () => {
  url = await createPreparedDatabase(inject("postgresUrl"));
  log = postgresLog(url);
  other = await launch({ executor: "other" });
}, 60_000);

afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await log.close();
});

beforeEach(async () => {
  sessions += 1;
  id = `session-${sessions}`;
  await other.send({ type: "read", id });
});

async function launch(orders: Partial<KeyedPostOrders>): Promise<HostProcess> {
  const base = {
    url,
    executor: `one-${sessions}`,
    at: "nothing",
    input: "data-changed",
  } as const;
  const launched = new HostProcess("keyed-posts.ts", { ...base, ...orders });
  await launched.launched();
  return launched;
}

/** Adds an item to the list, as often as it is applied. */
const addition: AgentInput = {
  type: "data-changed",
  patches: [{ op: "add", path: "/items/0", value: "item" }],
  by: "ada",
  timestamp: 5,
};

const stateNow = async (): Promise<AgentState> => (await stateAt(log, id)).state;

const messagesOf = ({ messages }: AgentState): readonly unknown[] =>
  messages.filter(({ role }) => role === "user").map(({ content }) => content);

/** Posts with one key: to a process that appends and is killed, and then, before it is taken over, to another one. */
async function repeat(input: AgentInput, orders: Partial<KeyedPostOrders>): Promise<boolean> {
  await using killed = await launch(orders);
  const unanswered = killed.post(id, input, "key");
  await Promise.race([killed.ended, unanswered]);
  const repeated = other.post(id, input, "key");
  await other.resume();
  return await repeated;
}

describe("a post with a key that another process repeats", { timeout: 120_000 }, () => {
  it.each(["killed-before", "killed-after"] as const)(
    "is one change of the data if its process is %s its append",
    async (at) => {
      expect(await repeat(addition, { at })).toBe(true);
      expect((await stateNow()).data).toEqual({ items: ["item"] });
    },
  );

  it.each(["killed-before", "killed-after"] as const)(
    "is one message, and applies, if its process is %s its append",
    async (at) => {
      const input = "user-message-received";
      expect(await repeat(message("Hello"), { at, input })).toBe(true);
      expect(messagesOf(await stateNow())).toEqual(["Hello"]);
    },
  );

  it("is one change if it is taken over from a process that still appends it", async () => {
    await using slow = await launch({ at: "held-before" });
    const posted = slow.post(id, addition, "key");
    await slow.prints(/^appending$/m);
    const repeated = other.post(id, addition, "key");
    await other.resume();
    expect(await repeated).toBe(true);
    await slow.send({ type: "release" });
    expect(await posted).toBe(true);
    expect((await stateNow()).data).toEqual({ items: ["item"] });
  });

  it("is one change if two processes post it five times at once each", async () => {
    await using one = await launch({});
    const posts = Array.from({ length: 10 }, (_, index) =>
      (index % 2 === 0 ? one : other).post(id, addition, "key"),
    );
    expect(await Promise.all(posts)).toEqual(posts.map(() => true));
    expect((await stateNow()).data).toEqual({ items: ["item"] });
  });

  it("is another change than that of another key, also in a session with many", async () => {
    for (const key of ["one", "two", "one"]) expect(await other.post(id, addition, key)).toBe(true);
    expect((await stateNow()).data).toEqual({ items: ["item", "item"] });
  });
});

describe("the key of a post", { timeout: 120_000 }, () => {
  it("is refused for another input, which is not appended, also in another process", async () => {
    await using one = await launch({});
    expect(await one.post(id, addition, "key")).toBe(true);
    const pause: AgentInput = { type: "session-paused", reason: "key", timestamp: 5 };
    for (const input of [pause, message("Hello"), { ...addition, by: "eve" }]) {
      for (const host of [one, other])
        expect(await host.send({ type: "post", id, input, key: "key" })).toBe("InputRefused key-reused");
    }
    expect(messagesOf(await stateNow())).toEqual([]);
    expect(await stateNow()).toMatchObject({ data: { items: ["item"] } });
    expect(await other.post(id, pause)).toBe(true);
  });

  it("is that of a repeated message that was made again", async () => {
    expect(await other.post(id, message("Hello", "one"), "key")).toBe(true);
    expect(await other.post(id, { ...message("Hello", "two"), timestamp: 7 }, "key")).toBe(true);
    expect(messagesOf(await stateNow())).toEqual(["Hello"]);
  });
});
