import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { DisposableLog, LogNotice, LogRecord, SessionLog } from "../src/index.ts";
import { jsonlLog } from "../src/jsonl.ts";
import { recordToLine } from "../src/jsonl/record-line.ts";
import {
  bodies,
  appendBodies,
  appendOneByOne,
  headOf,
  recordsAfter,
  seededRandom,
} from "../src/testing/index.ts";
import { pathOf, TemporaryDirectory } from "@moora/testbed/stores";

/** A file with records, which tests truncate and open repeatedly. */
class Torn implements Disposable {
  readonly #temporary = new TemporaryDirectory();
  readonly #notices: LogNotice[] = [];
  readonly directory = this.#temporary.path;
  readonly path = pathOf(this.#temporary.path, "a");
  log = this.#open();
  bytes = Buffer.alloc(0);

  static async with(...batches: readonly (readonly string[])[]): Promise<Torn> {
    const torn = new Torn();
    const session = await torn.log.create("a", '{"header":true}');
    for (const batch of batches) await appendBodies(session, ...batch);
    torn.bytes = readFileSync(torn.path);
    return torn;
  }

  #open(): DisposableLog {
    return jsonlLog(this.#temporary.path, {
      durability: "relaxed",
      onNotice: (notice) => this.#notices.push(notice),
    });
  }

  /** Opens the file with these bytes in a new log and reads its head. Returns the handle and the notices. */
  async opened(bytes: Buffer): Promise<{ session: SessionLog; notices: readonly LogNotice[] }> {
    await this.log.close();
    writeFileSync(this.path, bytes);
    this.#notices.length = 0;
    this.log = this.#open();
    const session = await this.log.open("a");
    if (session === undefined) throw new Error("the session is gone");
    await session.head();
    return { session, notices: this.#notices };
  }

  /** The start of each record line, and the end of the file. */
  lineStarts(): readonly number[] {
    const starts: number[] = [];
    for (let at = this.bytes.indexOf(10); at >= 0; at = this.bytes.indexOf(10, at + 1)) starts.push(at + 1);
    return starts;
  }

  [Symbol.dispose](): void {
    void this.log.close();
    this.#temporary[Symbol.dispose]();
  }
}

/** Opens a truncated file and appends: it then has the complete records, and one more. */
async function checkCut(torn: Torn, cut: number, all: readonly LogRecord[], whole: number): Promise<void> {
  const keptLength = torn.lineStarts()[whole] ?? 0;
  const { session, notices } = await torn.opened(torn.bytes.subarray(0, cut));
  expect(await session.read()).toEqual(all.slice(0, whole));
  const dropped = cut - keptLength;
  const tail = { type: "torn-tail", id: "a", afterSeq: whole, droppedBytes: dropped };
  expect(notices).toEqual(dropped === 0 ? [] : [tail]);
  expect(await session.inspect()).toEqual({
    records: all.slice(0, whole),
    damage: undefined,
    unfinishedBytes: dropped,
  });
  expect(readFileSync(torn.path).length).toBe(cut);
  const [added] = await appendBodies(session, '{"after":"the cut"}');
  const again = await torn.log.open("a");
  expect(await again?.read()).toEqual([...all.slice(0, whole), added]);
  const raw = readFileSync(torn.path);
  expect(raw.subarray(0, keptLength).equals(torn.bytes.subarray(0, keptLength))).toBe(true);
  expect(raw.toString().split("\n").length).toBe(whole + 3);
}

describe("(B01) a truncated file", () => {
  it("keeps all complete records, wherever the last one was cut, and accepts the next", async () => {
    using torn = await Torn.with(...bodies(50).map((body) => [body]));
    const all = (await (await torn.log.open("a"))?.read()) ?? [];
    const start = torn.lineStarts()[49] ?? 0;
    for (let cut = start; cut < torn.bytes.length; cut += 1) await checkCut(torn, cut, all, 49);
  });

  it("keeps all complete records, wherever the file was cut", async () => {
    using torn = await Torn.with(...bodies(50).map((body) => [body]));
    const all = (await (await torn.log.open("a"))?.read()) ?? [];
    const random = seededRandom(1);
    const [start = 0] = torn.lineStarts();
    for (let round = 0; round < 200; round += 1) {
      const cut = start + Math.floor(random() * (torn.bytes.length - start));
      await checkCut(torn, cut, all, torn.lineStarts().filter((line) => line <= cut).length - 1);
    }
  });

  it("loses a batch as a whole", async () => {
    using torn = await Torn.with(bodies(3), bodies(5, "batch"));
    const all = (await (await torn.log.open("a"))?.read()) ?? [];
    const start = torn.lineStarts()[3] ?? 0;
    for (let cut = start; cut < torn.bytes.length; cut += 7) await checkCut(torn, cut, all, 3);
    for (const cut of torn.lineStarts().slice(3, 8)) await checkCut(torn, cut, all, 3);
  });

  it("is damaged when its header is cut", async () => {
    using torn = await Torn.with(bodies(3));
    const [start = 0] = torn.lineStarts();
    for (let cut = 0; cut < start; cut += 5) {
      await expect(torn.opened(torn.bytes.subarray(0, cut))).rejects.toMatchObject({
        code: "LogCorrupt",
        seq: 0,
      });
    }
  });
});

describe("(B02) a cut inside a character of four bytes", () => {
  it("is like any other cut", async () => {
    using torn = await Torn.with(["{}"], [JSON.stringify("\u{1F600}".repeat(10))]);
    const all = (await (await torn.log.open("a"))?.read()) ?? [];
    const start = torn.lineStarts()[1] ?? 0;
    for (let cut = start; cut < torn.bytes.length; cut += 1) await checkCut(torn, cut, all, 1);
    expect(readFileSync(torn.path, "utf8")).not.toContain("\uFFFD");
  });
});

describe("remains of an append that was never acknowledged", () => {
  const remains: readonly (readonly [string, Buffer])[] = [
    ["half a line", Buffer.from('{"seq":4,"changesDigest":"c","dig')],
    ["bytes that are not text", Buffer.from([0xff, 0xfe, 0x80, 0xc3])],
    ["a sector of NUL", Buffer.alloc(512)],
    ["much NUL", Buffer.alloc(100_000)],
    ["one brace", Buffer.from("{")],
  ];
  it.each(remains)(
    "are reported and left in place by a reader, and removed by an append: %s",
    async (_, left) => {
      using torn = await Torn.with(bodies(3));
      const bytes = Buffer.concat([torn.bytes, left]);
      const { session, notices } = await torn.opened(bytes);
      const reported = [{ type: "torn-tail", id: "a", afterSeq: 3, droppedBytes: left.length }];
      for (const look of [() => session.head(), () => session.read(), () => session.inspect()]) await look();
      await session.snapshot();
      expect(notices).toEqual(reported);
      expect(readFileSync(torn.path)).toEqual(bytes);
      await session.append(3, []);
      expect(readFileSync(torn.path)).toEqual(torn.bytes);
      expect(notices).toEqual(reported);
    },
  );

  it("are ignored by the list, which counts complete records", async () => {
    using torn = await Torn.with(bodies(3));
    await torn.opened(Buffer.concat([torn.bytes, Buffer.from("{")]));
    expect(await torn.log.list()).toEqual([{ id: "a", head: 3, header: '{"header":true}' }]);
    expect(readFileSync(torn.path).length).toBe(torn.bytes.length + 1);
  });
});

describe("a line break after bytes that are not a record", () => {
  it("makes them damage, because an append writes its line break last", async () => {
    using torn = await Torn.with(bodies(3));
    const damaged = Buffer.concat([torn.bytes, Buffer.from('{"seq":4,"changesDigest":"c"}\n')]);
    await expect(torn.opened(damaged)).rejects.toMatchObject({ code: "LogCorrupt", seq: 4 });
    expect(readFileSync(torn.path)).toEqual(damaged);
  });

  it("makes an unfinished batch damage, once there are records after it", async () => {
    using torn = await Torn.with(bodies(3));
    const { session } = await torn.opened(torn.bytes);
    const [first, second] = recordsAfter(await headOf(session), "[1]", "[2]");
    const lines = [first, second].flatMap((record, index) =>
      record === undefined ? [] : [recordToLine({ record, at: 1, of: index === 0 ? 3 : 1 })],
    );
    const unfinished = Buffer.concat([torn.bytes, Buffer.from(lines.join(""))]);
    await expect(torn.opened(unfinished)).rejects.toMatchObject({ code: "LogCorrupt", seq: 5 });
  });

  it("does not when a power cut lost a sector of the last append", async () => {
    using temporary = new TemporaryDirectory();
    const log = jsonlLog(temporary.path, { onNotice: () => undefined });
    const session = await log.create("a", "{}");
    await appendOneByOne(session, ...bodies(3));
    const length = readFileSync(pathOf(temporary.path, "a")).length;
    await appendBodies(session, JSON.stringify("x".repeat(2_000)), JSON.stringify("y".repeat(2_000)), "{}");
    await log.close();
    const bytes = readFileSync(pathOf(temporary.path, "a"));
    for (let sector = Math.ceil(length / 512); (sector + 1) * 512 <= bytes.length; sector += 1) {
      const holed = Buffer.from(bytes).fill(0, sector * 512, (sector + 1) * 512);
      writeFileSync(pathOf(temporary.path, "a"), holed);
      await using again = jsonlLog(temporary.path, { onNotice: () => undefined });
      expect(await (await again.open("a"))?.head()).toBe(3);
    }
  });

  it("does when the NUL characters are those of a body", async () => {
    using torn = await Torn.with(bodies(3), [`"${"\0".repeat(3_000)}last words"`]);
    const damaged = Buffer.from(torn.bytes.toString().replace("last words", "past words"));
    await torn.log.close();
    writeFileSync(torn.path, damaged);
    await using whole = jsonlLog(torn.directory);
    const session = await whole.open("a");
    expect(() => session?.head()).toThrow(expect.objectContaining({ code: "LogCorrupt", seq: 4 }));
  });

  it("does when such a sector is followed by a later append", async () => {
    using temporary = new TemporaryDirectory();
    const log = jsonlLog(temporary.path);
    const session = await log.create("a", "{}");
    await appendOneByOne(session, ...bodies(3), JSON.stringify("x".repeat(2_000)), "{}");
    await log.close();
    const bytes = readFileSync(pathOf(temporary.path, "a"));
    const start = bytes.indexOf("xxxx");
    bytes.fill(0, Math.ceil(start / 512) * 512, Math.ceil(start / 512) * 512 + 512);
    writeFileSync(pathOf(temporary.path, "a"), bytes);
    await using again = jsonlLog(temporary.path);
    expect(await (await again.open("a"))?.inspect()).toMatchObject({
      damage: expect.objectContaining({ code: "LogCorrupt", seq: 4 }),
    });
  });
});

describe("a file that became shorter under an open handle", () => {
  it("is damaged at the first missing record", async () => {
    using torn = await Torn.with(...bodies(5).map((body) => [body]));
    const { session } = await torn.opened(torn.bytes);
    truncateSync(torn.path, torn.lineStarts()[3]);
    expect(() => session.read()).toThrow(expect.objectContaining({ code: "LogCorrupt", seq: 4 }));
  });
});
