import { wording } from "@moora/agent-core-state-machine/internal";
import type { LlmMessage, LlmRequest } from "@moora/llm";
import { fileToName, mapFiles } from "@moora/llm/internal";
import { isSummary } from "./messages.ts";

/**
 * The first part of a request that a provider does not find in its cache of an earlier one. `names`: the tools that were added, removed or
 * changed; empty if only those that the provider runs differ. `index`: the message, from 0 on. `settings`: the tool choice, the answer
 * schema or the reasoning effort differ, with which some providers do not use their caches.
 */
export type CacheBreak =
  | { readonly part: "model" | "instructions" | "settings" }
  | { readonly part: "tools"; readonly names: readonly string[] }
  | { readonly part: "messages"; readonly index: number; readonly reason: CacheBreakReason };

/** Why a message is not the one that the earlier request had in its place. */
export type CacheBreakReason = keyof typeof reasonTexts;

const reasonTexts = {
  "result-left-out": "a result was left out",
  summarized: "a summary replaced messages",
  "window-moved": "the window begins at another message",
  "files-left-out": "files were replaced by their names",
  "reasoning-left-out": "reasoning was left out",
  changed: "another message is in its place",
} as const;

/**
 * Why a provider that has read `earlier` does not find all of `later` in its cache: the first part that differs. Null if `later`
 * extends `earlier`, or is a beginning of it.
 */
export function cacheBreakBetween(earlier: LlmRequest, later: LlmRequest): CacheBreak | null {
  if (earlier.model !== later.model) return { part: "model" };
  if (earlier.system !== later.system) return { part: "instructions" };
  const hasSameTools = isSame(earlier.settings.providerTools, later.settings.providerTools);
  if (!hasSameTools || !isSame(earlier.tools, later.tools))
    return { part: "tools", names: changedTools(earlier.tools, later.tools) };
  const { length } = later.messages;
  const index = earlier.messages.findIndex((it, at) => at < length && !isSame(it, later.messages[at]));
  if (index >= 0) return { part: "messages", index, reason: reasonAt(earlier, later, index) };
  return isSame(headSettings(earlier), headSettings(later)) ? null : { part: "settings" };
}

const isSame = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

function changedTools(before: LlmRequest["tools"], after: LlmRequest["tools"]): readonly string[] {
  const isKept = (tool: LlmRequest["tools"][number]): boolean =>
    [before, after].every((tools) => tools.some((it) => isSame(it, tool)));
  return [...new Set([...before, ...after].filter((tool) => !isKept(tool)).map(({ name }) => name))];
}

/** The settings that a provider may read before the messages. */
const headSettings = ({ toolChoice, parallelToolCalls, answerSchema, settings }: LlmRequest): unknown => [
  [toolChoice, parallelToolCalls, answerSchema],
  [settings.reasoningEffort, settings.providerOptions],
];

function reasonAt(earlier: LlmRequest, later: LlmRequest, index: number): CacheBreakReason {
  const [before, after] = [earlier.messages[index], later.messages[index]];
  if (before === undefined || after === undefined) return "changed";
  if (hasFewerResults(before, after)) return "result-left-out";
  if (later.messages.some((it, at) => at >= index && isSummary(it) && !hasPair(earlier, later, at)))
    return "summarized";
  if (isBehind(earlier, after, index) || isBehind(later, before, index)) return "window-moved";
  if (isSame(mapFiles(before, fileToName), after)) return "files-left-out";
  return originOf(before) !== "" && originOf(after) === "" ? "reasoning-left-out" : "changed";
}

/** How the text in place of a result that was left out begins. */
const clearedStart = (): string => wording.cleared("\n").split("\n", 1).join();

/** Whether a turn is shown with fewer of its results. */
const hasFewerResults = (before: LlmMessage, after: LlmMessage): boolean =>
  before.role === "assistant" &&
  after.role === "assistant" &&
  isSame(before.turn, after.turn) &&
  after.results.some((it, at) => it.content.startsWith(clearedStart()) && !isSame(it, before.results[at]));

/** Whether a request has the message of another one at an index, and the one after it. A new summary may have the text of the last. */
const hasPair = ({ messages }: LlmRequest, other: LlmRequest, index: number): boolean =>
  messages.some((_, at) => isSame(messages.slice(at, at + 2), other.messages.slice(index, index + 2)));

const isBehind = ({ messages }: LlmRequest, message: LlmMessage, index: number): boolean =>
  message.role !== "note" && messages.some((it, at) => at > index && isSame(it, message));

const originOf = (message: LlmMessage): string | undefined =>
  message.role === "assistant" ? message.turn.origin : undefined;

/** Whether a request extends the one before, and where not, for people. */
export function cacheBreakText(broken: CacheBreak | null): string {
  if (broken === null) return "It extends the request before.";
  const { part } = broken;
  const names = part === "tools" ? broken.names : [];
  const where = part === "messages" ? `from message ${broken.index + 1} on` : `in its ${part}`;
  const why = part === "messages" ? reasonTexts[broken.reason] : names.join(", ");
  return `It differs from the request before ${where}${why === "" ? "" : `: ${why}`}.`;
}
