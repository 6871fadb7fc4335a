import nodeFileSystem, { closeSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LogError, type DisposableLog } from "../src/index.ts";
import { jsonlLog } from "../src/jsonl.ts";
import { bodies, appendBodies, appendOneByOne, headOf, seededRandom } from "../src/testing/index.ts";
import { recordsOf } from "../src/testing/chain-of.ts";
import { isProof } from "@moora/testbed/sample";
import {
  linesOf,
  newerFormat,
  noNotice,
  pathOf,
  TemporaryDirectory,
  writeLines,
} from "@moora/testbed/stores";

const temporary = new TemporaryDirectory();
// With file functions of its own, a log has no lock: each look is that of a later owner.
const fs = { ...nodeFileSystem };
const log = jsonlLog(temporary.path, { onNotice: noNotice, fs });
const again = (): DisposableLog => jsonlLog(temporary.path, { onNotice: noNotice, fs });
const path = pathOf(temporary.path, "a");
let sound = Buffer.alloc(0);
/** The start of each line: the header, record 1 and so on; then the end of the file. */
let starts: number[] = [];

const flips = isProof ? 10_000 : 300;
const bursts = isProof ? 1_000 : 60;

beforeAll(async () => {
  const session = await log.create("a", JSON.stringify({ tools: "t".repeat(1_000) }));
  await appendOneByOne(session, ...bodies(1_100, `${"text ".repeat(180)}\u{1F600}\uFFFD`));
  sound = readFileSync(path);
  starts = lineStarts(sound);
});

afterAll(async () => {
  await log.close();
  temporary[Symbol.dispose]();
});

function lineStarts(bytes: Buffer): number[] {
  const found = [0];
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) found.push(at + 1);
  return found;
}

/** The record that opening and reading report as damaged; undefined if none. */
async function named(): Promise<number | undefined | "sound"> {
  try {
    await using look = again();
    await (await look.open("a"))?.read();
    return "sound";
  } catch (error) {
    if (error instanceof LogError && error.code === "LogCorrupt") return error.seq;
    throw error;
  }
}

/** The same with some bytes of the undamaged file replaced. */
async function namedWith(offset: number, bytes: Buffer): Promise<number | undefined | "sound"> {
  const fd = openSync(path, "r+");
  writeSync(fd, bytes, 0, bytes.length, offset);
  try {
    return await named();
  } finally {
    writeSync(fd, sound, offset, bytes.length, offset);
    closeSync(fd);
  }
}

const flipped = (offset: number, bit: number): Buffer => Buffer.from([sound.readUInt8(offset) ^ (1 << bit)]);

/** The record whose line contains a byte; 0 for the header. */
const recordAt = (offset: number): number => starts.findLastIndex((start) => start <= offset);

const beforeCheck = Buffer.from('"changesDigest":"');

/** Whether a byte belongs to a check of what the reducer made of an input. It is not a fact: the chain does not cover it. */
function isOfCheck(offset: number): boolean {
  const start = sound.indexOf(beforeCheck, starts[recordAt(offset)]) + beforeCheck.length;
  return recordAt(offset) > 0 && offset >= start && offset < sound.indexOf('","digest"', start);
}

/** The record that is reported for a damaged byte. A check that differs is not damage, and counts as reported. */
const reported = (found: Awaited<ReturnType<typeof named>>, offset: number): typeof found =>
  found === "sound" && isOfCheck(offset) ? recordAt(offset) : found;

describe("(B04) a log of one megabyte, damaged outside its last record", () => {
  it("has that size, and is valid as written", async () => {
    expect(sound.length).toBeGreaterThan(1_000_000);
    expect(await named()).toBe("sound");
  });

  it(`names the record of each of ${flips} flipped bits`, async () => {
    const random = seededRandom(4);
    const end = starts.at(-2) ?? 0;
    for (let round = 0; round < flips; round += 1) {
      const offset = Math.floor(random() * end);
      const bit = Math.floor(random() * 8);
      expect(
        reported(await namedWith(offset, flipped(offset, bit)), offset),
        `bit ${bit} of byte ${offset}`,
      ).toBe(recordAt(offset));
    }
  }, 300_000);

  it(`names the record of each of ${bursts} bursts of eight bytes`, async () => {
    const random = seededRandom(44);
    const end = (starts.at(-2) ?? 0) - 8;
    for (let round = 0; round < bursts; round += 1) {
      const offset = Math.floor(random() * end);
      const burst = Buffer.from(Array.from({ length: 8 }, () => Math.floor(random() * 256)));
      const first = burst.findIndex((byte, at) => byte !== sound[offset + at]);
      expect(reported(await namedWith(offset, burst), offset + first), `a burst at ${offset}`).toBe(
        recordAt(offset + first),
      );
    }
  }, 300_000);

  it("names the record of every bit of the first lines, and of each line break", async () => {
    const offsets = [
      ...Array.from({ length: 80 }, (_, at) => at),
      ...Array.from({ length: 60 }, (_, at) => (starts[1] ?? 0) - 60 + at),
      ...Array.from({ length: 90 }, (_, at) => (starts[1] ?? 0) + at),
      ...starts.slice(2, 12).map((start) => start - 1),
    ];
    for (const offset of offsets) {
      expect(reported(await namedWith(offset, flipped(offset, offset % 8)), offset), `byte ${offset}`).toBe(
        recordAt(offset),
      );
    }
  });
});

describe("the error of a damaged file", () => {
  it.each([
    ["the header", 0, 1],
    ["a record", 7, 8],
  ])("names the path and the line: %s", async (_, record, line) => {
    const offset = (starts[record] ?? 0) + 20;
    const byte = flipped(offset, 1);
    const fd = openSync(path, "r+");
    writeSync(fd, byte, 0, byte.length, offset);
    try {
      await expect(async () => (await again().open("a"))?.read()).rejects.toMatchObject({
        code: "LogCorrupt",
        seq: record,
        message: expect.stringMatching(new RegExp(`^The log is damaged.* See line ${line} of ${path}\\.$`)),
      });
    } finally {
      writeSync(fd, sound, offset, byte.length, offset);
      closeSync(fd);
    }
  });

  it("names them also as the damage of an inspection", async () => {
    using copy = new TemporaryDirectory();
    const file = pathOf(copy.path, "a");
    const lines = sound.toString().split("\n").slice(0, 12);
    writeLines(file, lines.with(5, (lines[5] ?? "").replace("text", "test")));
    await using damaged = jsonlLog(copy.path, { onNotice: noNotice });
    const found = await (await damaged.open("a"))?.inspect();
    expect(found?.records).toHaveLength(4);
    expect(found?.damage?.message).toContain(`See line 6 of ${file}.`);
  });
});

describe("(B05) moved lines", () => {
  const edits: readonly (readonly [string, number, (lines: string[]) => string[]])[] = [
    ["two swapped", 5, (lines) => lines.with(5, lines[9] ?? "").with(9, lines[5] ?? "")],
    ["one copied", 6, (lines) => lines.toSpliced(6, 0, lines[5] ?? "")],
    ["one deleted", 5, (lines) => lines.toSpliced(5, 1)],
    ["one of another session put between", 5, (lines) => lines.toSpliced(5, 0, otherLine)],
    ["one of another session put in its place", 5, (lines) => lines.with(5, otherLine)],
    ["an empty line put between", 5, (lines) => lines.toSpliced(5, 0, "")],
    ["the header of another session put in its place", 0, (lines) => lines.with(0, otherHeader)],
    ["all of another session put in its place", 0, () => [otherHeader, otherLine]],
    ["a byte order mark put before it", 0, (lines) => lines.with(0, `\uFEFF${lines[0]}`)],
    ["a carriage return put at the end of a line", 5, (lines) => lines.with(5, `${lines[5]}\r`)],
    ["a space put into a line", 5, (lines) => lines.with(5, lines[5]?.replace(",", ", ") ?? "")],
  ];
  let otherHeader = "";
  let otherLine = "";
  let twenty: string[] = [];

  beforeAll(async () => {
    const other = await log.create("other", '{"other":true}');
    await appendBodies(other, "{}");
    [otherHeader = "", otherLine = ""] = linesOf(pathOf(temporary.path, "other"));
    await log.remove("a");
    await appendOneByOne(await log.create("a", "{}"), ...bodies(20));
    twenty = linesOf(path);
  });

  it.each(edits)("are found: %s", async (_what, seq, edit) => {
    writeLines(path, edit(twenty));
    const bytes = readFileSync(path);
    expect(await named()).toBe(seq);
    expect(readFileSync(path)).toEqual(bytes);
  });
});

describe("a small log with a batch, an escaped changes digest and a body with line breaks", () => {
  it("names the record of every bit before the last record", async () => {
    await log.remove("a");
    const session = await log.create("a", '{"agent":"x"}');
    await appendBodies(session, '"\uFFFD"');
    await appendBodies(session, "1", "2", "3");
    await session.append(
      4,
      recordsOf(await headOf(session), ['"a\0\n"'], () => '"/\u0007é'),
    );
    await appendBodies(session, "{}");
    sound = readFileSync(path);
    starts = lineStarts(sound);
    expect(await named()).toBe("sound");
    for (let offset = 0; offset < (starts.at(-2) ?? 0); offset += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        expect(
          reported(await namedWith(offset, flipped(offset, bit)), offset),
          `bit ${bit} of byte ${offset}`,
        ).toBe(recordAt(offset));
      }
    }
  });

  it("finds bytes that decode to the same character, and equivalent escapes", async () => {
    const replacements: readonly (readonly [string, Buffer])[] = [
      ["\uFFFD", Buffer.from([0xf0, 0x9f, 0x98])],
      ["\\u0007", Buffer.from("\\U0007")],
      ["\\n", Buffer.from("\\\n")],
      ['"/', Buffer.from('"\\')],
    ];
    for (const [what, bytes] of replacements) {
      const offset = sound.indexOf(what);
      expect(offset).toBeGreaterThan(0);
      expect(reported(await namedWith(offset, bytes), offset), JSON.stringify(what)).toBe(recordAt(offset));
    }
    const escaped = Buffer.from(
      sound.toString().replace("\\u0007", "\\u0007").replace('é","digest"', '\\u00e9","digest"'),
    );
    writeFileSync(path, escaped);
    expect(await named()).toBe(5);
  });
});

describe("a damaged last record", () => {
  it.each([100, 20_000, 50_000, 700_000])(
    "of %i characters is found by the first look at the end",
    async (length) => {
      await log.remove("a");
      const large = JSON.stringify("x".repeat(100_000));
      await appendOneByOne(await log.create("a", "{}"), large, large, JSON.stringify("x".repeat(length)));
      const bytes = readFileSync(path);
      bytes.writeUInt8(bytes.readUInt8(bytes.length - 10) ^ 1, bytes.length - 10);
      writeFileSync(path, bytes);
      const session = await again().open("a");
      const corrupt = expect.objectContaining({ code: "LogCorrupt", seq: 3 });
      expect(() => session?.head()).toThrow(corrupt);
      expect(await session?.inspect()).toMatchObject({ records: [{ seq: 1 }, { seq: 2 }], damage: corrupt });
    },
  );
});

describe("a session whose file is damaged", () => {
  it("is skipped by the list with a notice, and can be removed", async () => {
    const notices: unknown[] = [];
    await appendBodies(await log.create("damaged", "{}"), "{}");
    await using other = jsonlLog(temporary.path, { fs, onNotice: (notice) => notices.push(notice) });
    const file = pathOf(temporary.path, "damaged");
    const [header = "", ...lines] = linesOf(file);
    writeLines(file, [header.replace("damaged", "Damaged"), ...lines]);
    expect((await other.list()).map(({ id }) => id)).not.toContain("damaged");
    expect(notices).toContainEqual(expect.objectContaining({ type: "unreadable-session" }));
    expect(await other.remove("damaged")).toBe(true);
    expect(await other.open("damaged")).toBeUndefined();
  });
});

describe("(L02) a session that a newer release wrote", () => {
  it("is rejected by every call, and its bytes stay unchanged", async () => {
    await appendBodies(await log.create("newer", "{}"), ...bodies(3));
    const file = pathOf(temporary.path, "newer");
    const [header = "", ...lines] = linesOf(file);
    writeFileSync(file, `${[newerFormat(header), ...lines].join("\n")}\nwhat only it knows`);
    const bytes = readFileSync(file);
    const refusal = expect.objectContaining({ code: "UnsupportedVersion" });
    await using other = again();
    expect(() => other.open("newer")).toThrow(refusal);
    expect(() => other.create("newer", "{}")).toThrow(refusal);
    expect(() => other.remove("newer")).toThrow(refusal);
    expect((await other.list()).map(({ id }) => id)).not.toContain("newer");
    expect(readFileSync(file)).toEqual(bytes);
  });
});
