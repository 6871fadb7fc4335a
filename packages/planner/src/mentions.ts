import { textToJson } from "@moora/llm/internal";
import { textToExpressions } from "./text-to-expressions.ts";

/** The form of a piece of text, independent of its use. */
export type MentionKind =
  | "json"
  | "quoted"
  | "url"
  | "email"
  | "glob"
  | "date"
  | "time-zone"
  | "path"
  | "code"
  | "expression"
  | "number"
  | "name";

/** A piece of a text that can fill an argument, its position, and the words around it in lower case. */
export interface Mention {
  readonly kind: MentionKind;
  readonly text: string;
  readonly at: number;
  readonly length: number;
  readonly before: string;
  readonly after: string;
}

const quotes = [
  /"([^"\n]+)"/,
  /`([^`\n]+)`/,
  /\u201c([^\u201d\n]+)\u201d/,
  /\u00ab([^\u00bb\n]+)\u00bb/,
  /(?<=^|[\s(])'([^'\n]+)'(?=$|[\s),.;:?!])/,
];
const months = "january|february|march|april|may|june|july|august|september|october|november|december";
const zones = "Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc";
/** Well-known files without an extension. */
const wellKnown = "README|LICEN[CS]E|CHANGELOG|CONTRIBUTING|NOTICE|AUTHORS|Makefile|Dockerfile|Gemfile";
const endOfNumber = /(?![\w.]*\d|[A-Za-z])/;

/** In order of precedence: a match of one row is hidden from the rows below it. If there is a group, it is the piece. */
const patterns: readonly (readonly [MentionKind, RegExp])[] = [
  ["quoted", new RegExp(quotes.map(({ source }) => source).join("|"), "g")],
  ["url", /\bhttps?:\/\/[^\s<>"')\]]*[^\s<>"')\].,;:!?]/gi],
  ["email", /[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+/g],
  ["date", /\b\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?(?![\w-])/g],
  ["date", new RegExp(`\\b(?:\\d{1,2}\\.? (?:${months})|(?:${months}) \\d{1,2}\\b,?)(?: \\d{4})?\\b`, "gi")],
  ["time-zone", new RegExp(`\\b(?:${zones})/[A-Za-z_]+(?:/[A-Za-z_]+)?\\b|\\b(?:UTC|GMT)\\b`, "g")],
  ["glob", /(?<!\S)[\w./-]*\*[\w.*/-]*\.[\w*]+(?!\S)/g],
  [
    "path",
    /(?<![\w@/.-])(?=[./@\d-]*[A-Za-z_])(?!(?:and|he|his|she|her|either)\/\w+\b)(?:\.{1,2}\/|\/)?(?:[\w@.-]+\/)+(?:[\w@.-]*[\w@-])?/g,
  ],
  ["path", /(?<![\w@/.-])(?=[\w.-]*[A-Za-z])[\w-]*\.(?!\d+\b)[A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*)*/g],
  ["path", new RegExp(`(?<![\\w.])(?:${wellKnown})(?![\\w.])`, "g")],
  ["code", /(?<![\w.-])(?!\d+(?:st|nd|rd|th)\b)(?=[\w-]*\d)(?=[\w-]*[A-Za-z_])\w+(?:-\w+)*(?![\w.]*\w)/g],
  ["number", new RegExp(`(?<![\\w.])-?(?:\\d{1,3}(?:,\\d{3})+|\\d+)(?:\\.\\d+)?${endOfNumber.source}`, "g")],
  ["name", /\p{Lu}[\p{L}\p{N}'-]*(?: \p{Lu}[\p{L}\p{N}'-]*)*/gu],
];

/** Everything in a text that can fill an argument, in the order of the text; expressions come last. */
export function mentionsOf(text: string): readonly Mention[] {
  const found: Mention[] = jsonIn(text);
  let rest = without(text, found);
  for (const [kind, pattern] of patterns) {
    if (kind === "number") {
      for (const expression of textToExpressions(rest)) {
        found.push({
          kind: "expression",
          text: expression,
          at: text.length,
          length: 0,
          before: "",
          after: "",
        });
      }
    }
    const matches = [...rest.matchAll(pattern)].map((match) => {
      const piece = match.slice(1).find((group) => group !== undefined) ?? match[0];
      return placed(text, { kind, text: piece, at: match.index, length: match[0].length });
    });
    found.push(...matches);
    rest = without(rest, matches);
  }
  return found.toSorted((a, b) => a.at - b.at);
}

/** A piece of a text with the words before and after it. */
function placed(text: string, piece: Omit<Mention, "before" | "after">): Mention {
  const { at, length } = piece;
  const before = /([\p{L}\p{N}_]+)[^\p{L}\p{N}]*$/u.exec(text.slice(Math.max(0, at - 40), at))?.[1] ?? "";
  const after = /^[^\p{L}\p{N}]*([\p{L}\p{N}_]+)/u.exec(text.slice(at + length, at + length + 40))?.[1] ?? "";
  return { ...piece, before: before.toLowerCase(), after: after.toLowerCase() };
}

/** The text with these pieces replaced by blanks, so that positions do not change. */
const without = (text: string, mentions: readonly Mention[]): string =>
  mentions.reduce(
    (rest, { at, length }) => rest.slice(0, at) + " ".repeat(length) + rest.slice(at + length),
    text,
  );

/** JSON objects and arrays in the text. */
function jsonIn(text: string): Mention[] {
  const found: Mention[] = [];
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] !== "{" && text[at] !== "[") continue;
    const end = endOfBrackets(text, at);
    const piece = text.slice(at, end);
    if (end === at || textToJson(piece) === undefined) continue;
    found.push(placed(text, { kind: "json", text: piece, at, length: piece.length }));
    at = end - 1;
  }
  return found;
}

/** The position after the bracket that closes the one at `from`; `from` itself if it is not closed. */
function endOfBrackets(text: string, from: number): number {
  const most = Math.min(text.length, from + 2_000);
  let depth = 0;
  for (let at = from; at < most; at += 1) {
    if (text[at] === "{" || text[at] === "[") depth += 1;
    if (text[at] === "}" || text[at] === "]") depth -= 1;
    if (depth === 0) return at + 1;
  }
  return from;
}
