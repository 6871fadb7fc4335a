import { defineAgent, userMessage } from "@moora/agent";
import { chainStart, recordAfter, type LogRecord } from "@moora/event-log";
import { hangs, MockLlmCaller } from "@moora/llm/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { LogScene, newId, opened, post, recordsOf } from "./log-scene.ts";

let scene: LogScene;

// The model never answers, so that all records are those of the tests, and the intent of its call.
const agent = defineAgent({ name: "silent", llm: new MockLlmCaller(() => hangs()) });

beforeAll(async () => {
  scene = await LogScene.start(agent);
});

afterAll(async () => {
  await scene[Symbol.asyncDispose]();
});

const message = (text: string) => userMessage(text, { messageId: `message-${text}` });

/** The messages that the records of a session contain. */
const messagesIn = (records: readonly LogRecord[]): readonly string[] =>
  records.flatMap(({ body }) => {
    const { type, content } = JSON.parse(body) as { readonly type: string; readonly content?: string };
    return type === "user-message-received" && content !== undefined ? [content] : [];
  });

const coded = (code: string): unknown => expect.objectContaining({ name: "LogError", code });

describe("the sessions of a log on Restate", () => {
  it("are created, opened and listed, also by another process", async () => {
    const id = newId();
    const session = await scene.log.create(id, scene.header());
    expect([session.id, session.header, await session.head(), await session.read()]).toEqual([
      id,
      scene.header(),
      0,
      [],
    ]);
    await post(session, message("one"));
    await using other = scene.openLog();
    expect((await opened(other, id)).header).toBe(scene.header());
    const head = await session.head();
    const listed = (await other.list()).find((info) => info.id === id);
    expect(listed).toEqual({ id, header: scene.header(), head: expect.any(Number) });
    expect(listed?.head).toBeGreaterThanOrEqual(head);
  });

  it("are those of one agent, ordered by id", async () => {
    for (const id of ["list-b", "list-a"]) await scene.create(id);
    const ids = (await scene.log.list()).map((info) => info.id);
    expect(ids).toEqual(ids.toSorted());
    await using foreign = scene.openLog("another");
    expect(await foreign.list()).toEqual([]);
  });

  it("are created once: the others fail as LogExists", async () => {
    const id = newId();
    const created = await Promise.allSettled(
      ["one", "two", "three"].map(async (name) => scene.openLog().create(id, scene.header(name))),
    );
    const winners = created.filter(({ status }) => status === "fulfilled");
    expect(winners).toHaveLength(1);
    for (const outcome of created)
      if (outcome.status === "rejected") expect(outcome.reason).toEqual(coded("LogExists"));
    const [winner] = created.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    expect((await opened(scene.log, id)).header).toBe(winner?.header);
  });

  it("have the header of a session of the agent: others are refused as InvalidRecord", async () => {
    const foreign = defineAgent({ name: "foreign", llm: new MockLlmCaller(() => hangs()) });
    const headers = [
      "{}",
      '"\uD800"',
      "no JSON",
      scene.header().replace('"silent"', JSON.stringify(foreign.name)),
    ];
    for (const header of headers) {
      const id = newId();
      await expect(scene.log.create(id, header)).rejects.toEqual(coded("InvalidRecord"));
      expect(await scene.log.open(id)).toBeUndefined();
    }
  });

  it("are undefined for an unknown id, and invalid ids fail as InvalidId", async () => {
    expect(await scene.log.open("unknown")).toBeUndefined();
    for (const id of ["", ".", "..", "x".repeat(201), "\uD800"]) {
      await expect(scene.log.open(id)).rejects.toEqual(coded("InvalidId"));
      await expect(scene.log.create(id, scene.header())).rejects.toEqual(coded("InvalidId"));
      await expect((async () => scene.log.remove(id))()).rejects.toEqual(coded("InvalidId"));
    }
  });

  it.each(["a/b", "a b", "\u{1F600}", "%2F", "a?b#c", "__proto__", "x".repeat(200)])(
    "may have the id %j",
    async (id) => {
      await post(await scene.create(id), message("one"));
      expect(messagesIn(await (await opened(scene.openLog(), id)).read())).toEqual(["one"]);
    },
  );
});

describe("an append to a log on Restate", () => {
  it("adds its records once, at the head only", async () => {
    const session = await scene.create();
    const records = await recordsOf(session, message("one"), message("two"));
    await session.append(0, records);
    // The third one is the intent of the model call.
    await vi.waitFor(async () => expect(await session.head()).toBe(3), 10_000);
    expect((await session.read()).slice(0, 2)).toEqual(records);
    await expect(session.append(0, records)).rejects.toMatchObject({ code: "Conflict", seq: 3 });
    for (const seq of [-1, 1, 2.5, 1_000_000, Number.NaN, Number.POSITIVE_INFINITY])
      await expect(session.append(seq, records)).rejects.toEqual(coded("Conflict"));
    expect(messagesIn(await session.read())).toEqual(["one", "two"]);
  });

  it("of no record does nothing at the head, and fails elsewhere", async () => {
    const session = await scene.create();
    await session.append(0, []);
    await expect(session.append(1, [])).rejects.toEqual(coded("Conflict"));
    expect(await session.read()).toEqual([]);
  });

  it("that is not awaited is stored in the order of the calls", async () => {
    const session = await scene.createBusy();
    const notes = ["a", "b", "c", "d"].map((text) => message(text));
    const records = await recordsOf(session, ...notes);
    await Promise.all(records.map(async (record) => session.append(record.seq - 1, [record])));
    expect(messagesIn(await session.read())).toEqual(["first", "a", "b", "c", "d"]);
  });

  it("of records that no session makes is refused as InvalidRecord, and changes nothing", async () => {
    const session = await scene.create();
    const head = { seq: 0, digest: (await recordsOf(session, message("one")))[0]?.digest ?? "" };
    const [sound] = await recordsOf(session, message("one"));
    const start = chainStart(session.header);
    const started = { type: "llm-call-started", key: "plan/1/1/1", timestamp: 1 };
    const foreign: readonly (readonly LogRecord[])[] = [
      [recordAfter(start, "{}", "")],
      [recordAfter(start, "[]", "")],
      [recordAfter(start, JSON.stringify(started), "")],
      [{ ...(sound ?? head), seq: 1, body: "{}", changesDigest: "", digest: head.digest }],
    ];
    for (const records of foreign)
      await expect(session.append(0, records)).rejects.toEqual(coded("InvalidRecord"));
    expect(await session.read()).toEqual([]);
    await post(session, message("one"));
  });

  it("of a record that is too long is refused as InvalidRecord; a session refuses it before", async () => {
    const session = await scene.create();
    expect(session.maxRecordLength).toBe(8_039_082);
    const long = await recordsOf(session, userMessage("x".repeat(26_000_000), { messageId: "m1" }));
    await expect(session.append(0, long)).rejects.toEqual(coded("InvalidRecord"));
    const longest = await recordsOf(
      session,
      userMessage("\u{4E00}".repeat(8_039_082 - 200), { messageId: "m1" }),
    );
    await session.append(0, longest);
    expect((await session.read())[0]?.digest).toBe(longest[0]?.digest);
  });

  it("is made by posters that retry until they succeed: none is lost or repeated", async () => {
    const { id } = await scene.create();
    const wanted = ["one", "two", "three"].map((writer) => [1, 2, 3].map((number) => `${writer} ${number}`));
    await Promise.all(
      wanted.map(async (texts) => {
        const session = await opened(scene.openLog(), id);
        for (const text of texts) await post(session, message(text));
      }),
    );
    const found = messagesIn(await (await opened(scene.log, id)).read());
    expect(found.toSorted()).toEqual(wanted.flat().toSorted());
    for (const mine of wanted) expect(found.filter((text) => mine.includes(text))).toEqual(mine);
  });
});

describe("a read of a log on Restate", () => {
  it("returns the records after a number, in pages, also in a handle that has read nothing", async () => {
    const session = await scene.create();
    await post(session, ...Array.from({ length: 450 }, (_, index) => message(String(index))));
    const all = await session.read();
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1));
    expect(messagesIn(all)).toHaveLength(450);
    for (const after of [0, 1, 199, 200, 449, all.length - 1]) {
      const other = await opened(scene.log, session.id);
      expect((await other.read(after))[0]).toEqual(all[after]);
    }
    expect(await session.read(1_000_000)).toEqual([]);
    expect(await session.read(Number.NaN)).toEqual(await session.read(-1));
    expect(await session.inspect()).toMatchObject({ damage: undefined, unfinishedBytes: 0 });
    await session.checkUpTo(450);
    await expect(session.checkUpTo(1_000_000)).rejects.toEqual(coded("LogCorrupt"));
  });
});
