import { beforeAll, describe, expect, inject, it } from "vitest";
import type { DisposableLog, LiveChannel, SessionLog } from "@moora/event-log";
import { appendBodies } from "@moora/event-log/testing";
import { postgresLog } from "../src/index.ts";
import { failOnDriverWarnings } from "@moora/testbed/postgres/driver-warnings";
import { createDatabase } from "@moora/testbed/postgres/database";
import { poolOn } from "@moora/testbed/postgres/server";
import { optionalPartsOf } from "@moora/testbed/stores";
import { altered, type Send } from "./altered-pool.ts";

let url: string;

beforeAll(failOnDriverWarnings);
beforeAll(async () => {
  url = await createDatabase(inject("postgresUrl"));
});

const liveOf = ({ live }: DisposableLog): LiveChannel => {
  if (live === undefined) throw new Error("The log has no live channel.");
  return live;
};

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Publishes to a topic until a text arrives. */
async function untilHeard(live: LiveChannel, topic: string, texts: readonly string[]): Promise<void> {
  const { length } = texts;
  while (texts.length === length) {
    live.publish(topic, "text");
    await nextTurn();
  }
}

/** A log whose statements that begin or end to listen are passed to a function, which may reject them. */
async function listeningLog(onListen: (statement: string) => void) {
  const pool = poolOn(url);
  const source = altered(pool, async (query, statement, values) => {
    if (typeof statement !== "string") return query(statement.text, statement.values);
    if (/^(UN)?LISTEN/.test(statement)) onListen(statement);
    return query(statement, values);
  });
  const log = postgresLog(source);
  await log.list();
  return {
    live: liveOf(log),
    async [Symbol.asyncDispose]() {
      await log.close();
      await pool.end();
    },
  };
}

describe("the option live", () => {
  it("leaves the live channel out if it is false", async () => {
    await using log = postgresLog(url);
    await using silent = postgresLog(url, { live: false });
    const storable = ["page", "called", "due", "blobs"];
    expect(optionalPartsOf(log)).toEqual([...storable, "live"]);
    expect(optionalPartsOf(silent)).toEqual(storable);
  });
});

describe("a topic of the live channel", () => {
  it("is not listened to if its subscription ends while the connection is set up", async () => {
    const statements: string[] = [];
    let stop: () => void = () => undefined;
    await using scene = await listeningLog((statement) => {
      statements.push(statement);
      if (statements.length === 1) stop();
    });
    const texts: string[] = [];
    stop = scene.live.subscribe("first", () => undefined);
    scene.live.subscribe("second", (text) => texts.push(text));
    await untilHeard(scene.live, "second", texts);
    const [first = ""] = statements;
    expect(statements).toContain(`UN${first}`);
  });

  it("is heard after its statement failed on a connection that lives on", async () => {
    let failures = 0;
    const statements: string[] = [];
    await using scene = await listeningLog((statement) => {
      statements.push(statement);
      if (statements.length !== 2) return;
      failures += 1;
      throw Object.assign(new Error("out of memory"), { code: "53200", severity: "ERROR" });
    });
    const [first, second]: [string[], string[]] = [[], []];
    scene.live.subscribe("first", (text) => first.push(text));
    await untilHeard(scene.live, "first", first);
    scene.live.subscribe("second", (text) => second.push(text));
    await untilHeard(scene.live, "second", second);
    expect(failures).toBe(1);
    await untilHeard(scene.live, "first", first);
  });

  it("is heard by one that subscribes as soon as another one has left it", async () => {
    await using scene = await listeningLog(() => undefined);
    const texts: string[] = [];
    scene.live.subscribe("other", () => undefined);
    const stop = scene.live.subscribe("topic", (text) => texts.push(text));
    await untilHeard(scene.live, "topic", texts);
    stop();
    scene.live.subscribe("topic", (text) => texts.push(text));
    await untilHeard(scene.live, "topic", texts);
    expect(texts.length).toBeGreaterThan(1);
  });
});

/** A pool that counts the statements which are sent while another one of their connection is under way. */
function overlapsOf(pool: ReturnType<typeof poolOn>) {
  const busy = new Set<Send>();
  let overlaps = 0;
  const source = altered(pool, async (query, statement, values) => {
    if (busy.has(query)) overlaps += 1;
    busy.add(query);
    const sent =
      typeof statement === "string" ? query(statement, values) : query(statement.text, statement.values);
    return await sent.finally(() => busy.delete(query));
  });
  return { source, count: () => overlaps };
}

describe("a connection", () => {
  it("gets one statement at a time, also while topics come and go", async () => {
    const pool = poolOn(url, 3);
    const { source, count } = overlapsOf(pool);
    const log = postgresLog(source);
    const live = liveOf(log);
    const work = async (id: string): Promise<void> => {
      const session: SessionLog = await log.create(id, "{}");
      const stops = ["a", "b", "c"].map((topic) => live.subscribe(`${id}-${topic}`, () => undefined));
      const stopWatch = session.watch(() => undefined);
      live.publish(`${id}-a`, "text");
      await appendBodies(session, "{}");
      for (const stop of [...stops, stopWatch]) stop();
      live.subscribe(`${id}-b`, () => undefined);
      await Promise.all([session.head(), session.read(), appendBodies(session, "{}"), log.list()]);
    };
    await Promise.all(Array.from({ length: 10 }, (_, index) => work(`session-${index}`)));
    const texts: string[] = [];
    live.subscribe("last", (text) => texts.push(text));
    await untilHeard(live, "last", texts);
    await log.close();
    await pool.end();
    expect(count()).toBe(0);
  });
});
