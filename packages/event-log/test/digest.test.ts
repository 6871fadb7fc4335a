import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { portableHash } from "../src/digest.ts";
import { recordDigest, chainStart, checkedChain, digestOf } from "../src/index.ts";
import { bodies, recordsAfter, seededRandom } from "../src/testing/index.ts";

describe("a digest", () => {
  it("never changes", () => {
    expect(digestOf()).toBe("47DEQpj8HBSa-_TImW-5JA");
    expect(digestOf("")).toBe("unaLMx_YbOyAO-BOVqsrPQ");
    expect(digestOf("a")).toBe("QWL93Tmj5CJejiOS7O0jfw");
    expect(digestOf("ab\u{1F600}")).toBe("JgqcDHQCGFQbtj93wYMF1Q");
    expect(recordDigest(digestOf("{}"), '{"a":1}')).toBe(digestOf(digestOf("{}"), '{"a":1}'));
  });

  it("is 22 characters of base64url that encode 128 bits", () => {
    const random = seededRandom(2);
    for (let round = 0; round < 500; round += 1) {
      const digest = digestOf(String(random()));
      expect(digest).toMatch(/^[\w-]{21}[AQgw]$/);
      expect(Buffer.from(digest, "base64url").toString("base64url")).toBe(digest);
    }
  });

  it("is the same without node:crypto", () => {
    const random = seededRandom(3);
    for (let round = 0; round < 500; round += 1) {
      const length = Math.floor(random() * 300);
      const text = Array.from({ length }, () => String.fromCodePoint(Math.floor(random() * 0xd7ff))).join(
        "\u{1F600}",
      );
      expect(portableHash(`${text.length}:${text}`)).toBe(digestOf(text));
    }
  });

  it("depends on how a text is divided", () => {
    const divisions = [
      ["abc"],
      ["ab", "c"],
      ["a", "bc"],
      ["a", "b", "c"],
      ["", "abc"],
      ["abc", ""],
      ["3:abc"],
      ["a1:b", "c"],
      ["a", "1:bc"],
      ["ab1:c"],
    ];
    expect(new Set(divisions.map((parts) => digestOf(...parts))).size).toBe(divisions.length);
  });
});

describe("a chain", () => {
  const records = recordsAfter(chainStart("{}"), ...bodies(20));

  it("is returned when it is valid, from its start or from any record", () => {
    expect(checkedChain(chainStart("{}"), records)).toBe(records);
    for (const [index, record] of records.entries())
      expect(checkedChain(record, records.slice(index + 1))).toEqual(records.slice(index + 1));
  });

  it("covers facts only: another digest of changes continues it", () => {
    const refolded = records.map((record) => ({ ...record, changesDigest: "of other rules" }));
    expect(checkedChain(chainStart("{}"), refolded)).toBe(refolded);
  });

  it("of an earlier release, which covered the digests of changes, is continued and checked as it was written", () => {
    const formerDigest = digestOf(chainStart("{}").digest, "{}", "changed");
    const former = { seq: 1, body: "{}", changesDigest: "changed", digest: formerDigest };
    const mixed = [former, ...recordsAfter(former, "[]")];
    expect(checkedChain(chainStart("{}"), mixed)).toBe(mixed);
    for (const change of [{ body: "[]" }, { changesDigest: "other" }]) {
      const altered = [{ ...former, ...change }];
      expect(() => checkedChain(chainStart("{}"), altered)).toThrow(expect.objectContaining({ seq: 1 }));
    }
  });

  it("begins with its header", () => {
    expect(() => checkedChain(chainStart("[]"), records)).toThrow(
      expect.objectContaining({ code: "LogCorrupt", seq: 1 }),
    );
  });

  it("fails with the first record that does not follow", () => {
    for (const seq of [1, 7, 20]) {
      const altered = records.map((record) => (record.seq === seq ? { ...record, body: "{}" } : record));
      expect(() => checkedChain(chainStart("{}"), altered)).toThrow(expect.objectContaining({ seq }));
    }
  });
});

/** The files that a module imports for more than types, and the packages. */
function imported(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, kind, from = ""] of readFileSync(file, "utf8").matchAll(
    /^(?:import|export) (type )?[^;]*?from "([^"]+)";/gm,
  )) {
    if (kind !== undefined) continue;
    if (from.startsWith(".")) imported(join(dirname(file), from), seen);
    else seen.add(from);
  }
  return seen;
}

describe("the port, the memory log and the suite", () => {
  it.each(["index.ts", "testing/index.ts"])("load without Node.js: %s", (entry) => {
    const modules = imported(join(import.meta.dirname, "../src", entry));
    expect([...modules].filter((name) => !name.startsWith("/"))).toEqual(["@noble/hashes/sha2.js"]);
    expect(modules.size).toBeGreaterThan(8);
  });

  it("differ from the entries that need it", () => {
    expect(imported(join(import.meta.dirname, "../src/jsonl.ts"))).toContain("node:fs");
    expect(readdirSync(join(import.meta.dirname, "../src"))).toContain("sqlite.ts");
  });
});
