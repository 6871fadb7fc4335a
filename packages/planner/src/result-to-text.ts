import type { Json } from "@moora/llm";
import { isJsonObject, textToJson } from "@moora/llm/internal";
import type { Clause } from "./clause.ts";
import type { PastCall } from "./progress.ts";
import { wordsOf } from "./words.ts";

/** The maximum number of lines of one result that an answer quotes. */
const maxLines = 12;
const maxLineLength = 300;

/** A call in an answer: the tool and its arguments. */
export function callTitle({ name, values }: PastCall): string {
  const shown = Object.values(values).map((value) =>
    typeof value === "string" ? value : JSON.stringify(value),
  );
  return shown.length === 0 ? name : `${name} (${shown.join(", ").slice(0, 120).toWellFormed()})`;
}

/** The quoted result of a call: one line as a sentence, several lines below a heading. */
export function resultToText(clause: Clause, call: PastCall, toolWords: ReadonlySet<string>): string {
  if (call.isError) return `${callTitle(call)} failed: ${sentence(shortLine(call.content))}`;
  const lines = linesOf(call.content);
  const [only = ""] = lines;
  if (lines.length <= 1)
    return `According to ${call.name}: ${sentence(only === "" ? "(no output)" : shortLine(only))}`;
  if (lines.length <= maxLines) return [`${callTitle(call)} says:`, ...quoted(lines)].join("\n");
  const topic = topicOf(clause, call, toolWords);
  const relevant = linesAbout(topic, lines);
  if (relevant.length === 0) {
    const rest = `... and ${lines.length - maxLines} more lines.`;
    const isAsked = topic.size > 0 && clause.text.includes("?");
    const head = isAsked ? "has no matching line; it begins" : "says";
    return [`${callTitle(call)} ${head}:`, ...quoted(lines.slice(0, maxLines)), rest].join("\n");
  }
  const rest = relevant.length > maxLines ? [`... and ${relevant.length - maxLines} more lines.`] : [];
  const about = `${callTitle(call)} says, in the matching lines:`;
  return [about, ...quoted(relevant.slice(0, maxLines)), ...rest].join("\n");
}

/** JSON as lines of names and values, other text unchanged. */
function linesOf(content: string): readonly string[] {
  const json = textToJson(content);
  if (isJsonObject(json)) return [pairsOf(json)];
  if (Array.isArray(json))
    return json.map((item: Json) => (isJsonObject(item) ? pairsOf(item) : plain(item)));
  return content
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "");
}

const pairsOf = (json: { readonly [key: string]: Json }): string =>
  Object.entries(json)
    .map(([key, value]) => `${key}: ${plain(value)}`)
    .join(", ");

const plain = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

/** The words of the request that are neither words of the tool nor arguments: its topic. */
function topicOf(clause: Clause, { values }: PastCall, toolWords: ReadonlySet<string>): ReadonlySet<string> {
  const given = new Set(Object.values(values).flatMap((value) => wordsOf(plain(value))));
  return new Set([...clause.words].filter((word) => !toolWords.has(word) && !given.has(word)));
}

const linesAbout = (topic: ReadonlySet<string>, lines: readonly string[]): readonly string[] =>
  lines.filter((line) => wordsOf(line).some((word) => topic.has(word)));

const quoted = (lines: readonly string[]): readonly string[] => lines.map((line) => `> ${shortLine(line)}`);

const shortLine = (line: string): string =>
  line.length <= maxLineLength ? line : `${line.slice(0, maxLineLength).toWellFormed()} ...`;

const sentence = (text: string): string => (/[.!?:)\]]$/.test(text) ? text : `${text}.`);
