import { describe, expect, it } from "vitest";
import { chainStart, follows } from "../src/chain.ts";
import { leaseAfter } from "../src/store.ts";
import { headerToLine, lineToHeader, sealLine } from "../src/jsonl/header-line.ts";
import { headerLine, linesAfter } from "../src/jsonl/record-lines.ts";
import { isTornTail } from "../src/jsonl/torn-tail.ts";
import { recordsAfter } from "../src/testing/index.ts";

const generation = "A".repeat(22);
const read = (line: string) => lineToHeader(line.trimEnd());

describe("a first line with a valid seal that no release writes", () => {
  it.each([
    ["without a format", `{"generation":"${generation}","id":"ada","header":{}`],
    ["without an id", `{"format":1,"generation":"${generation}","header":{}`],
    ["with an id in another spelling", `{"format":1,"generation":"${generation}","id":"\\u0061","header":{}`],
    ["without a header", `{"format":1,"generation":"${generation}","id":"ada"`],
    [
      "with a quoted text that needs no quotes",
      `{"format":1,"generation":"${generation}","id":"ada","text":"{}"`,
    ],
  ])("is damaged: %s", (_, line) => {
    expect(() => read(sealLine(line))).toThrow(expect.objectContaining({ code: "LogCorrupt" }));
  });

  it("is read back if a release wrote it", () => {
    for (const line of [
      { id: "ada", generation, header: '{"a":1}' },
      { id: "ada", generation, header: "{\n}" },
      { id: "\u{1F600}", generation, header: "[]" },
    ])
      expect(read(headerToLine(line))).toEqual(line);
  });
});

describe("the first line of a file that an earlier release has left of a removed session", () => {
  it("has no header", () => {
    const line = sealLine(`{"format":1,"removed":"${generation}","id":"ada"`);
    expect(read(line)).toEqual({ id: "ada", generation, header: undefined });
  });
});

describe("the remains of an append that lost a sector and its end", () => {
  it("are a torn tail, although they contain a line break", () => {
    const bytes = Buffer.concat([Buffer.alloc(512), Buffer.from("\n{"), Buffer.from('"seq":2')]);
    const { badLine } = linesAfter(headerLine("{}"), bytes);
    expect(badLine).toEqual({ start: 0, seq: 1 });
    const found = { offset: 0, head: chainStart("{}"), length: 0, badLine, isDurable: true };
    expect(isTornTail(bytes, found)).toBe(true);
  });
});

describe("a record", () => {
  it("follows only the records and the header before it", () => {
    const [start, other] = [chainStart("{}"), chainStart('{"a":1}')];
    const [first, second] = recordsAfter(start, "1", "2");
    const [changed] = recordsAfter(start, "one");
    const [elsewhere] = recordsAfter(other, "1");
    if (first === undefined || second === undefined || changed === undefined || elsewhere === undefined)
      throw new Error("There are two records, and one of each other kind.");
    expect(follows(first, second)).toBe(true);
    expect(follows(changed, second)).toBe(false);
    expect(follows(start, elsewhere)).toBe(false);
  });
});

describe("a lease", () => {
  it.each([Number.NaN, Number.POSITIVE_INFINITY])("cannot end at an invalid time: %s", (ttlMs) => {
    expect(() => leaseAfter(undefined, { owner: "x", now: 1, ttlMs })).toThrow(RangeError);
  });
});
