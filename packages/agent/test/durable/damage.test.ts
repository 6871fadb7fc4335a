import { copyFileSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { LogError, type EventLog } from "@moora/event-log";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import {
  defineAgent,
  diffSessions,
  exportSession,
  forkSession,
  importSession,
  openSession,
  parsePortable,
  readSession,
  stateAt,
  verifySession,
  type Agent,
} from "../../src/index.ts";
import { storageOf, type Storage } from "@moora/testbed/durable/places";

const agent: Agent = defineAgent({ llm: new MockLlmCaller(() => answers("x".repeat(1_000))) });

/** A session of sixty messages, closed with a snapshot, in a storage whose syncs are real. */
async function longSession(storage: Storage): Promise<void> {
  const log = storage.open();
  const session = await openSession(agent, { log, id: "ada" });
  for (let index = 0; index < 60; index += 1) await session.ask(`message ${index}`);
  await session.close();
  await log.close();
}

const fileIn = ({ place }: Storage): string =>
  place.file(readdirSync(place.path).find((name) => name.endsWith(".jsonl")) ?? "");

/** Overwrites some bytes in the line of a record. */
function damageLine(storage: Storage, seq: number): void {
  const file = fileIn(storage);
  const bytes = readFileSync(file);
  let start = 0;
  for (let line = 0; line < seq; line += 1) start = bytes.indexOf(10, start) + 1;
  bytes.fill(0, start + 5, start + 30);
  writeFileSync(file, bytes);
}

function damageRow({ place }: Storage, seq: number): void {
  const database = new DatabaseSync(place.file("log.db"));
  database.prepare("UPDATE moora_records SET body = body || ' ' WHERE seq = ?").run(seq);
  database.close();
}

const damages = [
  ["jsonl", damageLine, "LogCorrupt@30"],
  ["sqlite", damageRow, "opened"],
] as const;

const full = { durability: "full" } as const;
const corrupt = (seq: number) => ({ code: "LogCorrupt", seq });

/** The result of opening a session and of continuing it. */
async function outcomeOf(log: EventLog, access: "run" | "post" | "read"): Promise<string> {
  try {
    const session = await openSession(agent, { log, id: "ada", access });
    await session.close();
    return "opened";
  } catch (error) {
    return error instanceof LogError ? `${error.code}@${error.seq}` : String(error);
  }
}

describe.each(damages)("damage before a snapshot, in %s", (name, damage, read) => {
  it("is found before anything is appended after it; who only reads a database may begin with the snapshot", async () => {
    await using storage = storageOf(name, full);
    await longSession(storage);
    damage(storage, 30);
    const log = storage.open();
    const before = await log.list();
    expect(await verifySession(log, "ada")).toMatchObject({ ok: false, seq: 30, reason: "damaged" });
    expect(await outcomeOf(log, "run")).toBe("LogCorrupt@30");
    expect(await outcomeOf(log, "post")).toBe("LogCorrupt@30");
    expect(await outcomeOf(log, "read")).toBe(read);
    expect(await log.list()).toEqual(before);
    expect(await (await log.open("ada"))?.currentLease()).toBeUndefined();
  });
});

describe.each(damages)("a damaged session in %s", (name, damage) => {
  it("can be shown, forked, exported and compared up to the damage, and says where that is", async () => {
    await using storage = storageOf(name, full);
    await longSession(storage);
    const log = storage.open();
    const whole = await readSession(log, "ada");
    const before = (await stateAt(log, "ada", 29)).state;
    damage(storage, 30);
    expect(await stateAt(log, "ada", 29)).toMatchObject({ seq: 29, state: before });
    const fork = await forkSession(log, "ada", 29, { as: "fork", open: "close" });
    expect(fork.state.messages.slice(0, before.messages.length)).toEqual(before.messages);
    expect(await verifySession(log, "fork")).toMatchObject({ ok: true });
    const portable = await exportSession(log, "ada", 29);
    expect(parsePortable(portable).records).toEqual(whole.records.slice(0, 29));
    await importSession(log, portable, "saved");
    expect(await verifySession(log, "saved")).toMatchObject({ ok: true, seq: 29 });
    const saved = { log, id: "saved" };
    expect(await diffSessions({ log, id: "ada", seq: 29 }, saved)).toMatchObject({ a: undefined, state: [] });
    const behind = [
      () => stateAt(log, "ada", 30),
      () => stateAt(log, "ada"),
      () => forkSession(log, "ada", 30, { as: "late", open: "close" }),
      () => exportSession(log, "ada", 30),
      () => exportSession(log, "ada"),
      () => diffSessions({ log, id: "ada" }, saved),
      () => readSession(log, "ada"),
    ];
    for (const look of behind) await expect(look()).rejects.toMatchObject(corrupt(30));
    expect(await log.open("late")).toBeUndefined();
  });
});

describe.each(damages)("a fork that reuses results, of a damaged session in %s", (name, damage) => {
  it("needs nothing behind the damage where no work is open at its position", async () => {
    await using storage = storageOf(name, full);
    await longSession(storage);
    const log = storage.open();
    const { inputs } = await readSession(log, "ada");
    const asked = inputs.findLastIndex(({ type }, index) => index < 29 && type === "user-message-received");
    damage(storage, 30);
    const fork = await forkSession(log, "ada", asked, { as: "fork", open: "reuse" });
    expect(fork.state).toEqual((await stateAt(log, "ada", asked)).state);
    const open = forkSession(log, "ada", asked + 1, { as: "late", open: "reuse" });
    await expect(open).rejects.toMatchObject(corrupt(30));
  });
});

describe("a torn end of a JSONL file", () => {
  /** A session without a snapshot or lease to say where it ended, and the remains of an append behind it. */
  async function torn(storage: Storage): Promise<{ readonly file: string; readonly seq: number }> {
    const log = storage.open();
    const session = await openSession(agent, { log, id: "ada", snapshots: false });
    await session.ask("one");
    const { seq } = session.info();
    await session.close();
    await log.close();
    const file = fileIn(storage);
    writeFileSync(file, '{"seq":99,"chan', { flag: "a" });
    copyFileSync(file, storage.place.file("before"));
    return { file, seq };
  }

  it("is reported by verification with its length, and left in place by all that only look", async () => {
    await using storage = storageOf("jsonl", full);
    const { file, seq } = await torn(storage);
    const log = storage.open();
    expect(await verifySession(log, "ada")).toMatchObject({ ok: true, seq, unfinishedBytes: 15 });
    await stateAt(log, "ada");
    await exportSession(log, "ada");
    const reader = await openSession(agent, { log, id: "ada", access: "read" });
    expect(reader.info().seq).toBe(seq);
    await reader.close();
    expect(readFileSync(file)).toEqual(readFileSync(storage.place.file("before")));
  });

  it("is removed by the owner that opens the session to run it", async () => {
    await using storage = storageOf("jsonl", full);
    const { seq } = await torn(storage);
    const log = storage.open();
    const session = await openSession(agent, { log, id: "ada" });
    expect(session.info().seq).toBe(seq + 1);
    await session.close();
    expect(await verifySession(log, "ada")).toMatchObject({ ok: true, unfinishedBytes: 0 });
  });
});

describe("a JSONL file that lost what was acknowledged", () => {
  it.each([
    ["with a snapshot", true],
    ["without a snapshot", false],
  ])("%s, by one byte, is damaged: it is not opened, and verification says so", async (_, snapshots) => {
    await using storage = storageOf("jsonl", full);
    const log = storage.open();
    const session = await openSession(agent, { log, id: "ada", snapshots });
    await session.ask("one");
    await session.close();
    await log.close();
    const again = storage.open();
    const head = Number(await (await again.open("ada"))?.head());
    const file = fileIn(storage);
    truncateSync(file, statSync(file).size - 1);
    const late = storage.open();
    expect(await verifySession(late, "ada")).toMatchObject({ ok: false, reason: "damaged", seq: head });
    for (const access of ["run", "post", "read"] as const)
      expect(await outcomeOf(late, access)).toBe(`LogCorrupt@${head}`);

    expect((await stateAt(late, "ada", head - 1)).seq).toBe(head - 1);
  });
});

describe("a header that was changed in the database", () => {
  it.each(["run", "post", "read"] as const)(
    "is found by who opens the session to %s, also from a snapshot",
    async (access) => {
      await using storage = storageOf("sqlite", full);
      await longSession(storage);
      const database = new DatabaseSync(storage.place.file("log.db"));
      database.exec(`UPDATE moora_sessions SET header = replace(header, '"agent"', '"agents"')`);
      database.close();
      const log = storage.open();
      await expect(openSession(agent, { log, id: "ada", access })).rejects.toMatchObject(corrupt(1));
      expect(await verifySession(log, "ada")).toMatchObject({ ok: false, seq: 1, reason: "damaged" });
    },
  );
});
