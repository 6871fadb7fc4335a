import { setTimeout as pause } from "node:timers/promises";
import { defineAgent, type Agent } from "@moora/agent";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { restateSession, type RestateOptions, type RestateSession } from "../src/index.ts";
import { ask, expectSound, serveLocally } from "./local-service.ts";
import { RestateServer } from "./restate-server.ts";

let server: RestateServer;

beforeAll(async () => {
  server = await RestateServer.start();
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const agentOf = (name: string, { version = "1", answer = "Noted." } = {}): Agent =>
  defineAgent({
    name,
    version,
    systemPrompt: `Release ${version}.`,
    llm: new MockLlmCaller(() => answers(answer)),
  });

const sessionOf = (agent: string, id: string): RestateSession =>
  restateSession({ ingressUrl: server.ingressUrl, agent, id });

/** Longer than what is written between two snapshots of a short session, in a few messages. */
const note = (index: number): string => `${index}: ${"All work is noted. ".repeat(200)}`;

async function grow(session: RestateSession, messages: number): Promise<void> {
  for (let index = 0; index < messages; index += 1) await ask(session, note(index));
}

/** A process that keeps no session reads each one as a whole. */
const caches: readonly (readonly [string, Omit<RestateOptions, "ingressUrl">])[] = [
  ["that keeps its sessions", {}],
  ["that keeps no session", { cacheBytes: 1 }],
];

interface Journals {
  readonly handler: string;
  readonly bytes: number;
}

/** The journals that the server keeps of the sessions of an agent and of their effects, for each handler. */
const journalsOf = (agent: string): Promise<readonly Journals[]> =>
  server.query<Journals>(
    `SELECT i.target_handler_name AS handler, sum(j.raw_length) AS bytes
     FROM sys_journal j JOIN sys_invocation i ON j.id = i.id
     WHERE i.target_service_name LIKE '${agent}-%' GROUP BY i.target_handler_name`,
  );

/** The length of these journals. */
const journalBytes = async (agent: string): Promise<number> =>
  (await journalsOf(agent)).reduce((sum, { bytes }) => sum + bytes, 0);

/** The keys that the object of a session stores, besides its records. */
async function storedKeys(agent: string, id: string): Promise<readonly string[]> {
  const rows = await server.query<{ readonly key: string }>(
    `SELECT key FROM state WHERE service_name = '${agent}-session' AND service_key = '${id}' AND key NOT LIKE 'log/%'`,
  );
  return rows.map(({ key }) => key).toSorted();
}

/** The sequence number in the head that the object of a session stores; 0 without a head. */
async function storedSeq(agent: string, id: string): Promise<number> {
  const [head] = await server.query<{ readonly value_utf8: string }>(
    `SELECT value_utf8 FROM state WHERE service_name = '${agent}-session' AND service_key = '${id}' AND key = 'head'`,
  );
  const stored: { readonly seq: number } = head === undefined ? { seq: 0 } : JSON.parse(head.value_utf8);
  return stored.seq;
}

describe("a session of many records", () => {
  it("costs an input what it costs a short one", async () => {
    await using _ = await serveLocally(server, agentOf("cost"));
    const session = sessionOf("cost", "a");
    const after: number[] = [];
    for (let tens = 0; tens < 3; tens += 1) {
      await grow(session, 10);
      after.push(await journalBytes("cost"));
    }
    const [first = 0, second = 0, third = 0] = after;
    expect(first).toBeGreaterThan(10 * note(0).length);
    expect(third - second).toBeLessThan(1.5 * first);
  });

  it.each(caches)(
    "continues in a process %s, in one that has not seen it, and in the first one again",
    async (_name, options) => {
      const name = options.cacheBytes === undefined ? "kept" : "read";
      await using first = await serveLocally(server, agentOf(name), options);
      const session = sessionOf(name, "a");
      await grow(session, 12);
      await using _ = await serveLocally(server, agentOf(name, { version: "2" }), options);
      const { state } = await ask(session, "And now?");
      expect(state.config.systemPrompt).toBe("Release 2.");
      await first.register();
      const { state: last } = await ask(session, "And then?");
      expect(last.config.systemPrompt).toBe("Release 1.");
      await expectSound(session, "a");
    },
  );

  it("is read by a handle that has an old part of it, by a new one, and by one that had another session of the id", async () => {
    await using _ = await serveLocally(server, agentOf("views"));
    const [reader, writer] = [sessionOf("views", "a"), sessionOf("views", "a")];
    await ask(writer, "Hello.");
    const seen = await reader.current();
    expect(await reader.current()).toEqual(seen);
    await ask(writer, "Again.");
    expect(await reader.current()).toEqual(await sessionOf("views", "a").current());
    await grow(writer, 12);
    expect(await reader.current()).toEqual(await writer.current());
    await expectSound(reader, "a");

    await server.setState("views-session", "a", {});
    while ((await storedKeys("views", "a")).length > 0) await pause(10);
    expect(await reader.current()).toBeUndefined();
    await ask(sessionOf("views", "a"), "Anew.");
    expect(await reader.current()).toEqual(await sessionOf("views", "a").current());
    await expectSound(reader, "a");
  });
});

describe("a session that is read while it grows", () => {
  it("is read as it was at some time", async () => {
    await using _ = await serveLocally(server, agentOf("race"), { cacheBytes: 1 });
    const session = sessionOf("race", "a");
    await ask(session, "Hello.");
    const growth = { isOver: false };
    const reader = async (): Promise<void> => {
      for (let seen = 0; !growth.isOver;) {
        const { seq = 0, state } = (await sessionOf("race", "a").current()) ?? {};
        expect(seq).toBeGreaterThanOrEqual(seen);
        expect(state?.config.systemPrompt).toBe("Release 1.");
        seen = seq;
      }
    };
    const readers = Array.from({ length: 3 }, reader);
    await grow(session, 8);
    growth.isOver = true;
    await Promise.all(readers);
    await expectSound(session, "a");
  });
});

describe("the journals of what has ended", () => {
  it("are kept of inputs and effects, and not of reads", async () => {
    await using _ = await serveLocally(server, agentOf("journals"));
    await ask(sessionOf("journals", "a"), "Hello.");
    const handlers = (await journalsOf("journals")).map(({ handler }) => handler);
    expect(handlers.toSorted()).toEqual(["post", "report", "run"]);
  });

  it("are not kept with a retention of 0", async () => {
    await using _ = await serveLocally(server, agentOf("brief"), { retentionMs: 0 });
    await ask(sessionOf("brief", "a"), "Hello.");
    while ((await journalBytes("brief")) > 0) await pause(10);
    expect(await sessionOf("brief", "a").send("Again.")).toBe(true);
  });
});

describe("an input whose run ends after its records are stored", () => {
  it.each(caches)("is applied once when it runs again in a process %s", async (_name, options) => {
    const name = options.cacheBytes === undefined ? "again" : "anew";
    const run = { isHeld: false, failures: 0 };
    // The answers are long, so that a snapshot is due at the message after one.
    const agent: Agent = Object.create(agentOf(name, { answer: note(0) }), {
      // The handler reads the name when it starts an effect, after it has stored the records and the head.
      name: {
        get() {
          if (!run.isHeld) return name;
          run.failures += 1;
          throw new Error("The run ends here.");
        },
      },
    });
    await using _ = await serveLocally(server, agent, options);
    const session = sessionOf(name, "a");
    // The header of a new session has the name, too.
    await ask(session, "Hello.");
    for (let index = 1; index < 6; index += 1) {
      const { seq: before = 0 } = (await session.current()) ?? {};
      Object.assign(run, { isHeld: true, failures: 0 });
      const answered = ask(session, `Note ${index}.`);
      await expect.poll(() => storedSeq(name, "a"), { timeout: 10_000 }).toBeGreaterThan(before);
      await expect.poll(() => run.failures, { timeout: 10_000 }).toBeGreaterThan(0);
      run.isHeld = false;
      await answered;
    }
    const current = await session.current();
    expect(current?.state.messages.filter(({ role }) => role === "user")).toHaveLength(6);
    await expectSound(session, "a");
  });
});
