import { describe, expect, it } from "vitest";
import { type EventLog, LogError, type LogRecord, type SessionLog } from "../src/index.ts";
import { jsonlLog } from "../src/jsonl.ts";
import { bodies, appendBodies, headOf, recordsAfter, snapshotOf } from "../src/testing/index.ts";
import { failingFileSystem, type FileFault } from "./disks/failing-file-system.ts";
import { PowerLossDisk } from "./disks/power-loss-disk.ts";
import { isProof } from "@moora/testbed/sample";
import { noNotice, pathOf, TemporaryDirectory } from "@moora/testbed/stores";

/** A session of ten turns. Each turn does what a session owner does: lease, inputs, sometimes a batch, a snapshot. */
const turns: readonly (readonly string[])[] = Array.from({ length: 10 }, (_, turn) =>
  bodies(turn % 3 === 0 ? 3 : 1, `turn ${turn}`),
);

/** Runs the turns on a file system with a fault. After each failure, ends the fault and opens the session again. */
class FaultyRun {
  readonly heads: (readonly [seen: number, acknowledged: number])[] = [];
  readonly #log: EventLog;
  readonly #heal: () => void;
  readonly failures: unknown[] = [];
  readonly acknowledged: LogRecord[] = [];

  constructor(log: EventLog, heal: () => void) {
    this.#log = log;
    this.#heal = heal;
  }

  async finish(): Promise<void> {
    for (const [turn, texts] of turns.entries()) {
      await this.#retryUntilDone(async () => {
        const session = await this.#session();
        await session.lease({ owner: "me", now: turn, ttlMs: 10 });
        if (turn % 4 === 3) await session.saveSnapshot(snapshotOf(turn));
        await this.#append(session, texts);
      });
    }
  }

  async #append(session: SessionLog, texts: readonly string[]): Promise<void> {
    const head = await headOf(session);
    this.heads.push([head.seq, this.acknowledged.length]);
    const records = recordsAfter(head, ...texts);
    await session.append(head.seq, records);
    this.acknowledged.push(...records);
    this.heads.push([await session.head(), this.acknowledged.length]);
  }

  async #session(): Promise<SessionLog> {
    return (await this.#log.open("a")) ?? this.#log.create("a", "{}");
  }

  async #retryUntilDone(turn: () => Promise<void>): Promise<void> {
    try {
      return await turn();
    } catch (error) {
      this.failures.push(error);
      this.#heal();
      return this.#retryUntilDone(turn);
    }
  }
}

const codeOf = (error: unknown): string => (error instanceof LogError ? error.code : String(error));

/** Lets the n-th call fail, for every n, until a run has no fault. Returns the number of runs with a fault. */
async function checkEveryCall(
  fault: Omit<FileFault, "call">,
  failsWith: string | undefined,
): Promise<number> {
  // All error codes have the same effect: every call fails with one of them, a sample with the others.
  const step = isProof || fault.code === "EIO" || fault.code === "short" ? 1 : 5;
  for (let call = 1; ; call += step) {
    using temporary = new TemporaryDirectory();
    const disk = new PowerLossDisk();
    const { fs, heal, calls } = failingFileSystem(disk, { ...fault, call });
    const log = jsonlLog(temporary.path, { fs, onNotice: noNotice });
    const run = new FaultyRun(log, heal);
    await run.finish();
    await log.close();
    expect(new Set(run.failures.map(codeOf)).difference(new Set([failsWith]))).toEqual(new Set());
    expect(run.heads.filter(([seen, acknowledged]) => seen !== acknowledged)).toEqual([]);
    const again = jsonlLog(temporary.path, { fs: disk, onNotice: noNotice });
    expect(await (await again.open("a"))?.read(), `after call ${call} failed`).toEqual(run.acknowledged);
    await again.close();
    if (calls() < call) return call;
  }
}

describe("(B06) when any call of the file system fails, the log reports it and continues after the fault", () => {
  const codes = ["EIO", "ENOSPC", "EACCES", "EDQUOT"] as const;
  it.each(codes.flatMap((code) => [false, true].map((isSticky) => ({ code, isSticky }))))(
    "$code, again and again: $isSticky",
    async (fault) => {
      expect(await checkEveryCall(fault, "LogWrite")).toBeGreaterThan(100);
    },
  );

  it.each([false, true])("a short write is not a failure; repeated: %s", async (isSticky) => {
    expect(await checkEveryCall({ code: "short", isSticky, of: ["writeSync"] }, undefined)).toBeGreaterThan(
      10,
    );
  });
});

/** A session on a disk in memory, with a fault that starts when `arm` is called. */
async function armed(code: FileFault["code"], isSticky: boolean, of: FileFault["of"] & object) {
  const temporary = new TemporaryDirectory();
  const disk = new PowerLossDisk();
  let fs = failingFileSystem(disk, { call: Infinity, code, isSticky, of });
  const log = jsonlLog(temporary.path, {
    onNotice: noNotice,
    fs: new Proxy(disk, { get: (_disk, name) => Reflect.get(fs.fs, name) }),
  });
  const session = await log.create("a", "{}");
  const records = await appendBodies(session, ...bodies(3));
  return {
    directory: temporary.path,
    disk,
    log,
    session,
    records,
    arm: () => void (fs = failingFileSystem(disk, { call: 1, code, isSticky, of })),
    calls: () => fs.calls(),
    heal: () => fs.heal(),
    async [Symbol.asyncDispose]() {
      await log.close();
      temporary[Symbol.dispose]();
    },
  };
}

describe("(B08) after a sync that failed once", () => {
  it("the append is not acknowledged, and no later one on the same handle until it is opened again", async () => {
    await using test = await armed("EIO", false, ["fdatasyncSync"]);
    const { session, records, log, arm } = test;
    const next = recordsAfter(await headOf(session), '{"next":true}');
    arm();
    const failure = expect.objectContaining({ code: "LogWrite" });
    expect(() => session.append(3, next)).toThrow(failure);
    for (let again = 0; again < 3; again += 1) expect(() => session.append(3, next)).toThrow(failure);
    expect(await session.read()).toEqual(records);
    const opened = await log.open("a");
    expect(await opened?.read()).toEqual(records);
    await opened?.append(3, next);
    expect(() => session.append(4, [])).toThrow(failure);
    expect(await opened?.read()).toEqual([...records, ...next]);
  });

  it("a handle that never failed continues from the acknowledged records", async () => {
    await using test = await armed("EIO", true, ["fdatasyncSync", "ftruncateSync"]);
    const { session, records, log, arm, heal } = test;
    const other = await log.open("a");
    arm();
    expect(() => session.append(3, recordsAfter(records.at(-1) ?? { seq: 0, digest: "" }, "{}"))).toThrow(
      "EIO",
    );
    heal();
    expect(await other?.head()).toBe(3);
    expect((await appendBodies(other ?? session, '{"other":true}')).at(0)?.seq).toBe(4);
  });

  it("at most one unacknowledged append is stored, when the process dies before it can truncate it", async () => {
    await using test = await armed("EIO", true, ["fdatasyncSync", "ftruncateSync"]);
    const { session, records, disk, arm } = test;
    const next = recordsAfter(records.at(-1) ?? { seq: 0, digest: "" }, "[1]", "[2]");
    arm();
    expect(() => session.append(3, next)).toThrow("EIO");
    await using after = jsonlLog(test.directory, { fs: disk, onNotice: noNotice });
    const found = await (await after.open("a"))?.read();
    expect([records, [...records, ...next]]).toContainEqual(found);
  });
});

function sizeOf(disk: PowerLossDisk, directory: string): number {
  const fd = disk.openSync(pathOf(directory, "a"), "r");
  const { size } = disk.fstatSync(fd);
  disk.closeSync(fd);
  return size;
}

describe("a write that fails", () => {
  it("leaves no bytes when the disk was full once", async () => {
    await using test = await armed("ENOSPC", false, ["writeSync"]);
    const { session, records, log, arm, disk, directory } = test;
    const length = sizeOf(disk, directory);
    arm();
    const large = recordsAfter(records.at(-1) ?? { seq: 0, digest: "" }, JSON.stringify("x".repeat(10_000)));
    expect(() => session.append(3, large)).toThrow("ENOSPC");
    expect(sizeOf(disk, directory)).toBe(length);
    expect(await (await log.open("a"))?.read()).toEqual(records);
  });

  it("does not affect readers", async () => {
    await using test = await armed("EIO", true, ["writeSync", "fdatasyncSync", "ftruncateSync"]);
    const { session, records, arm, heal } = test;
    arm();
    expect(() => session.append(3, recordsAfter(records.at(-1) ?? { seq: 0, digest: "" }, "{}"))).toThrow(
      "EIO",
    );
    heal();
    expect(await session.read()).toEqual(records);
    expect(await session.head()).toBe(3);
  });
});

describe("a removal that fails", () => {
  it("keeps the session, which can be removed later", async () => {
    await using test = await armed("EIO", false, ["unlinkSync"]);
    const { log, records, arm } = test;
    arm();
    expect(() => log.remove("a")).toThrow(expect.objectContaining({ code: "LogWrite" }));
    expect(await (await log.open("a"))?.read()).toEqual(records);
    expect(await log.remove("a")).toBe(true);
  });

  it("after it has removed the records, leaves no lease and snapshot for the next session", async () => {
    await using test = await armed("EIO", true, ["unlinkSync"]);
    const { session, disk, directory } = test;
    await session.lease({ owner: "old", now: 0, ttlMs: 1_000_000 });
    await session.saveSnapshot(snapshotOf(3));
    disk.unlinkSync(pathOf(directory, "a"));
    await using after = jsonlLog(directory, { fs: disk });
    const next = await after.create("a", "{}");
    expect(await next.snapshot()).toBeUndefined();
    expect(await next.lease({ owner: "new", now: 1, ttlMs: 5 })).toEqual({ owner: "new", until: 6 });
  });
});
