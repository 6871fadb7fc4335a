import type { Json } from "@moora/llm";
import { isJsonObject, textToJson } from "@moora/llm/internal";
import type { PastCall } from "./progress.ts";
import type { RoutedClause } from "./request-to-clauses.ts";

/** Characters of a whole summary, and of one entry in it. */
const maxLength = 6_000;
const maxEntryLength = 600;

/** A summary of a history: the beginning of each entry, one per line. */
export function historyToSummary(text: string): string {
  const head = "\n\nHistory:\n";
  const history = textToJson(text.slice(text.indexOf(head) + head.length));
  const entries = (Array.isArray(history) ? history : [{ assistant: text }])
    .map((entry) => entryToText(entry).replaceAll(/\s+/g, " ").trim())
    .filter((entry) => entry !== "")
    .map((entry) => (entry.length > maxEntryLength ? `${entry.slice(0, maxEntryLength)}...` : entry));
  const whole = entries.join("\n");
  return (whole.length > maxLength ? `${whole.slice(0, maxLength)}...` : whole).toWellFormed();
}

/** A line about a call, or what the assistant or an earlier summary said; "" for a message of the user. */
function entryToText(entry: Json): string {
  if (!isJsonObject(entry)) return "";
  const textOf = (name: string): string => (typeof entry[name] === "string" ? entry[name] : "");
  if ("name" in entry)
    return `Tool ${textOf("name")}(${textOf("parameters")}): ${textOf("observation") || "no result"}`;
  return "assistant" in entry ? `Assistant: ${textOf("assistant")}` : textOf("summary");
}

const entry = /\bTool ([\w-]{1,64})\((\{.*?\})\): (SUCCESS|ERROR): (.*?)(?=\s+Tool [\w-]{1,64}\(\{|$)/gs;

/** The calls that a summary contains, each assigned to the clause that requested it. */
export function summaryToCalls(summary: string, clauses: readonly RoutedClause[]): readonly PastCall[] {
  const open = new Set(clauses.keys());
  return [...summary.matchAll(entry)].flatMap(([, name = "", parameters = "", state, content = ""]) => {
    const values = textToJson(parameters);
    if (!isJsonObject(values)) return [];
    const call = { name, values, isError: state === "ERROR", content: content.trim() };
    const clause = [...open].find((index) => isFor(clauses[index], call));
    if (clause === undefined) return [call];
    open.delete(clause);
    return [{ ...call, mark: { clause, purpose: "own" } as const }];
  });
}

/** Whether a call belongs to a clause: same tool, and the same arguments or none in the clause itself. */
function isFor(routed: RoutedClause | undefined, { name, values }: PastCall): boolean {
  const route = routed?.route;
  if (route?.profile.tool.name !== name) return false;
  return route.filled.missing.length > 0 || JSON.stringify(route.filled.values) === JSON.stringify(values);
}
