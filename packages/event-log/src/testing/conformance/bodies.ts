import { appendBodies } from "../chain-of.ts";
import { checkEqual } from "../expectations.ts";
import type { LogCase } from "../log-storage.ts";
import { logCase } from "../scene.ts";

const nest = (depth: number, open: string, close: string): string => open.repeat(depth) + close.repeat(depth);

const strangeBodies: readonly (readonly [what: string, body: string, scenario?: string])[] = [
  ["that is an empty object", "{}"],
  ["that is an empty array", "[]"],
  ["that is null", "null"],
  ["that is an empty string", '""'],
  ["that is empty text", ""],
  ["with insignificant white space", ' {\t"a" : 1 ,  "b":2 } '],
  ["with line breaks", '{\n"a":1,\r\n"b":2\r}\n'],
  ["with unordered and repeated members", '{"b":1,"a":2,"b":3}'],
  ["with a number that a double cannot represent", '{"a":12345678901234567890.123456789e+400}'],
  ["with a member __proto__", '{"__proto__":{"polluted":true},"constructor":1,"":2}', "J01"],
  ["with escaped NUL characters", '{"a":"\\u0000b\\u0000"}'],
  ["with NUL characters", '{"a":"\0b\0"}'],
  ["with other control characters", '"\u0001\u0008\u001B\u007F\u0085"'],
  ["with U+2028 and U+2029", '"a\u2028b\u2029c"'],
  ["with a byte order mark", "\uFEFF{}"],
  ["with characters of four bytes", '"\u{1F600}\u{1F468}\u200D\u{1F469}\u{10FFFF}"', "B02"],
  ["with U+FFFD, the replacement character", '"\uFFFD\uFFFD"'],
  ["with U+FFFE and U+FFFF", '"\uFFFE\uFFFF"'],
  ["with escaped lone surrogates", '"\\ud800\\udc00\\udfff"'],
  ["with quotes and backslashes", '"\\"\\\\\\"\\\\n\\u005c"'],
  ["that is not JSON", 'a"},{"b'],
  ["with SQL", '"\'; DROP TABLE moora_records; -- $1 ? :a @b"'],
  ["that is a line of a log", '{"seq":1,"changesDigest":"c","digest":"AAAAAAAAAAAAAAAAAAAAAA","body":{}}'],
  ["of one million characters", JSON.stringify("x".repeat(1_000_000))],
  ["of one million characters of four bytes", JSON.stringify("\u{1F600}".repeat(1_000_000))],
  ["with 1,000,000 nested arrays", nest(1_000_000, "[", "]"), "J03"],
  ["with 100,000 nested objects", nest(100_000, '{"a":', "}").replace("}", "1}"), "J03"],
];

const lengths = [4_095, 4_096, 32_767, 65_535, 65_536, 65_537, 131_072, 262_145];

const fill = (length: number, character: string): string => {
  const body = JSON.stringify(character.repeat(Math.ceil(length / character.length)));
  return body.slice(0, length - 1) + body.slice(-1);
};

export const bodyCases: readonly LogCase[] = [
  ...strangeBodies.map(([what, body, scenario]) => keepsBody(`a body ${what}`, body, scenario)),
  ...lengths.map((length) => keepsBody(`a body of ${length} characters`, fill(length, "x"))),
  ...lengths.map((length) =>
    keepsBody(`a body of ${length} characters with three bytes each`, fill(length, "€")),
  ),
];

/** Appends the body between others, so that a body that affects its neighbors is found. */
function keepsBody(what: string, body: string, scenario?: string): LogCase {
  return logCase(`${scenario === undefined ? "" : `(${scenario}) `}keeps ${what}`, async (scene) => {
    const session = await scene.create();
    const first = await appendBodies(session, '{"before":1}', body);
    const records = [
      ...first,
      ...(await appendBodies(session, body)),
      ...(await appendBodies(session, '{"after":1}')),
    ];
    for (const handle of [session, await scene.openElsewhere(), await scene.openAgain()]) {
      const read = await handle.read();
      checkEqual(
        read.map((record) => record.body.length),
        records.map((record) => record.body.length),
        "the lengths",
      );
      checkEqual(read, records, "the records");
    }
  });
}
