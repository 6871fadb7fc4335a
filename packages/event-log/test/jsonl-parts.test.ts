import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chainStart, recordAfter, type LogRecord } from "../src/index.ts";
import { jsonlLog } from "../src/jsonl.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "jsonl-parts-"));
});
afterEach(() => rm(folder, { recursive: true }));

const header = "{}";

/** Records of which each seventh is too long for the first read of a part. */
function longRecords(count: number): readonly LogRecord[] {
  const records: LogRecord[] = [];
  for (let seq = 1; seq <= count; seq += 1) {
    const body = JSON.stringify({ seq, text: "é".repeat(seq % 7 === 0 ? 400_000 : 10) });
    records.push(recordAfter(records.at(-1) ?? chainStart(header), body, ""));
  }
  return records;
}

describe("a log of files", () => {
  it("reads as many records as a reader wants, from each position and in each handle", async () => {
    const records = longRecords(15);
    await using log = jsonlLog(folder);
    const written = await log.create("ada", header);
    for (let seq = 0; seq < records.length; seq += 3) await written.append(seq, records.slice(seq, seq + 3));
    for (const session of [written, await log.open("ada")]) {
      for (const limit of [1, 2, 3, 7, 16]) {
        for (let seq = 0; seq <= records.length; seq += 1)
          expect(await session?.read(seq, limit)).toEqual(records.slice(seq, seq + limit));
      }
    }
    expect(await written.read(4)).toEqual(records.slice(4));
  });
});
