import { appendBodies } from "../chain-of.ts";
import { check, checkEqual, checkRejected } from "../expectations.ts";
import type { LogCase } from "../log-storage.ts";
import { logCase } from "../scene.ts";

const strangeIds: readonly string[] = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "valueOf",
  "then",
  "toJSON",
  "length",
  ".",
  "..",
  "../a",
  "/etc/passwd",
  "a/b",
  "a\\b",
  "C:",
  "con",
  "nul.txt",
  ".lock-0",
  " ",
  "a ",
  "\0",
  "a\0b",
  "\u0001",
  "a\nb",
  "%00",
  "%",
  "a.jsonl",
  "'; DROP TABLE moora_records; --",
  '"',
  "ünïcödé",
  "\u2028",
  "\uFEFFa",
  "\uFFFF",
  "\u{1F600}".repeat(100),
  "é".repeat(200),
];

const refusedIds: readonly (readonly [string, string])[] = [
  ["is empty", ""],
  ["has 201 characters", "a".repeat(201)],
  ["has a lone surrogate", "a\uD800"],
  ["has half a pair at its start", "\uDC00a"],
];

/** Pairs of ids that a disk or a database may not distinguish. */
const pairs: readonly (readonly [string, string, string])[] = [
  ["only in case", "Session", "session"],
  ["only in Unicode normalization", "\u00E9", "e\u0301"],
  ["only in the last of 200 characters", `${"a".repeat(199)}b`, `${"a".repeat(199)}c`],
  ["only in a space at the end", "a", "a "],
  ["only in NUL at the end", "a", "a\0"],
  ["only in a character that file names cannot hold", "a/b", "a-b"],
];

const prototypes = (): string =>
  [Object.prototype, Array.prototype, Map.prototype]
    .map((prototype) => Reflect.ownKeys(prototype).map(String).join())
    .join(";");

export const idCases: readonly LogCase[] = [
  ...strangeIds.map((id) =>
    logCase(`(J01) keeps a session whose id is ${name(id)}`, async (scene) => {
      const before = prototypes();
      const records = await appendBodies(await scene.create(id), '{"a":1}');
      const session = await scene.openElsewhere(id);
      checkEqual(session.id, id, "the id of the handle");
      checkEqual(await session.read(), records, "the records are read back");
      checkEqual(
        (await scene.log.list()).map((info) => info.id),
        [id],
        "the ids in the list",
      );
      check(await scene.log.remove(id), "the session can be removed");
      checkEqual(await scene.log.open(id), undefined, "the session after the removal");
      checkEqual(prototypes(), before, "the built-in prototypes");
    }),
  ),
  ...refusedIds.map(([what, id]) =>
    logCase(`rejects an id that ${what}, in every method`, async ({ log }) => {
      await checkRejected("InvalidId", "create", () => log.create(id, "{}"));
      await checkRejected("InvalidId", "open", () => log.open(id));
      await checkRejected("InvalidId", "remove", () => log.remove(id));
      checkEqual(await log.list(), [], "the list is empty");
    }),
  ),
  ...pairs.map(([what, one, other]) =>
    logCase(`two ids that differ ${what} are two sessions`, async (scene) => {
      const records = await appendBodies(await scene.create(one), '{"of":"one"}');
      const second = await scene.create(other, '{"header":"other"}');
      checkEqual(await second.read(), [], "the records of the second");
      checkEqual(await (await scene.open(one)).read(), records, "the records of the first");
      await scene.log.remove(one);
      checkEqual((await scene.open(other)).header, '{"header":"other"}', "the header of the second");
    }),
  ),
  logCase("lists sessions in the order of their ids by code unit", async (scene) => {
    const ids = ["b", "a", "B", "10", "2", "\u{1F600}", "\uFFFF", "é", "aa", " "];
    for (const id of ids) await scene.create(id);
    checkEqual(
      (await scene.log.list()).map((info) => info.id),
      ids.toSorted(),
      "the order of the list",
    );
  }),
];

function name(id: string): string {
  return id.length > 40
    ? `${JSON.stringify(id.slice(0, 4))} and so on, ${id.length} long`
    : JSON.stringify(id);
}
