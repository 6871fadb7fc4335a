import type { Json } from "@moora/llm";
import { isJsonObject, textToJson } from "@moora/llm/internal";
import type { Clause } from "./clause.ts";
import type { Field } from "./fields.ts";
import { mentionsOf } from "./mentions.ts";
import type { PastCall } from "./progress.ts";
import { kindsFor, roleOf } from "./roles.ts";
import { plainWords, wordsOf } from "./words.ts";

const maxLines = 300;
/** The maximum number of values for "read them". */
const maxChosen = 3;

/** Values for an argument in earlier results, in their order. */
export function candidatesFor(field: Field, calls: readonly PastCall[]): readonly string[] {
  const found = calls.flatMap((call) => {
    if (call.isError) return [];
    const json = textToJson(call.content);
    return json === undefined || typeof json !== "object" ? inText(field, call.content) : inJson(field, json);
  });
  return [...new Set(found)];
}

function inText(field: Field, content: string): readonly string[] {
  const role = roleOf(field);
  const kinds = kindsFor(role);
  return content
    .split("\n")
    .slice(0, maxLines)
    .flatMap((line) => {
      const listed = role === "path" ? /^(\S+?)(?::\d+:.*| \(.*\))$/.exec(line)?.[1] : undefined;
      if (listed !== undefined) return [listed];
      if (role === "path" && line.trimEnd().endsWith("/")) return [];
      if (role === "plain" || role === "phrase") return [];
      return mentionsOf(line.slice(0, 500)).flatMap(({ kind, text }) => (kinds.includes(kind) ? [text] : []));
    });
}

/** Values under the name of the argument, or under "id" for a name that ends in it. */
function inJson(field: Field, json: Json): readonly string[] {
  if (Array.isArray(json)) return json.flatMap((item: Json) => inJson(field, item));
  if (!isJsonObject(json)) return [];
  return Object.entries(json).flatMap(([key, value]) => {
    const words = plainWords(key).join(" ");
    const isNamed = words === field.plain.join(" ") || (words === "id" && field.plain.at(-1) === "id");
    if (isNamed && (typeof value === "string" || typeof value === "number")) return [String(value)];
    return typeof value === "object" ? inJson(field, value) : [];
  });
}

/** The candidates that a clause refers to: by name, by position, or all of them. */
export function chooseCandidates(clause: Clause, candidates: readonly string[]): readonly string[] {
  const named = byName(clause, candidates);
  if (named !== undefined) return [named];
  if (/\b(?:them|those|these|each|all|both|the [a-z]*[^s\W]s)\b/i.test(clause.text))
    return candidates.slice(0, maxChosen);
  const place = /\b(first|second|third|last)\b/i.exec(clause.text)?.[1]?.toLowerCase();
  const index = ["first", "second", "third"].indexOf(place ?? "first");
  const one = place === "last" ? candidates.at(-1) : candidates[index];
  return one === undefined ? [] : [one];
}

/** The candidate that shares the most words with the clause; the shortest of several. */
export function byName(clause: Clause, candidates: readonly string[]): string | undefined {
  const shared = (candidate: string): number => {
    const base = candidate.slice(candidate.lastIndexOf("/", candidate.length - 2) + 1);
    const name = base.replace(/\.[^.]*$/, "");
    const isWhole = clause.mentions.some(
      ({ text }) => [base, name].includes(text) || text.endsWith(`/${base}`),
    );
    return wordsOf(name).filter((word) => clause.words.has(word)).length + (isWhole ? 3 : 0);
  };
  const ranked = candidates
    .map((candidate) => ({ candidate, score: shared(candidate) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.candidate.length - b.candidate.length);
  return ranked[0]?.candidate;
}
