import { wording } from "@moora/agent-core-state-machine/internal";
import type { LlmMessage, LlmRequest } from "@moora/llm";
import { fileToName, mapFiles } from "@moora/llm/internal";
import { isSummary } from "./messages.ts";

/** The first part of a request that a provider does not find in its cache of an earlier one. */
export type CacheBreak =
  | { readonly part: "model" | "instructions" }
  /** `names`: the tools that were added, removed or changed. It is empty if only those that the provider runs differ. */
  | { readonly part: "tools"; readonly names: readonly string[] }
  /** The messages, with what made the one at `index`, from 0 on, another one. */
  | {
      readonly part: "messages";
      readonly index: number;
      readonly reason:
        | "result-left-out"
        | "summarized"
        | "window-moved"
        | "files-left-out"
        | "reasoning-left-out"
        | "changed";
    }
  /** All of the above is in the cache. With another tool choice, answer schema or reasoning effort, some providers do not use it. */
  | { readonly part: "settings" };

type BrokenMessages = Extract<CacheBreak, { part: "messages" }>;

/**
 * Why a provider that has read `earlier` does not find all of `later` in its cache: the first part that differs. Null if `later`
 * extends `earlier`, or is a beginning of it.
 */
export function cacheBreakBetween(earlier: LlmRequest, later: LlmRequest): CacheBreak | null {
  if (earlier.model !== later.model) return { part: "model" };
  if (earlier.system !== later.system) return { part: "instructions" };
  const names = changedTools(earlier, later);
  const hasSameTools = names.length === 0 && isSame(earlier.tools, later.tools);
  if (!hasSameTools || !isSame(earlier.settings.providerTools, later.settings.providerTools))
    return { part: "tools", names };
  const { length } = later.messages;
  const index = earlier.messages.findIndex((it, at) => at < length && !isSame(it, later.messages[at]));
  if (index >= 0)
    return { part: "messages", index, reason: reasonAt(earlier.messages, later.messages, index) };
  return isSame(headSettings(earlier), headSettings(later)) ? null : { part: "settings" };
}

const isSame = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

function changedTools({ tools: before }: LlmRequest, { tools: after }: LlmRequest): readonly string[] {
  if (before === after) return [];
  const differs = (tool: LlmRequest["tools"][number], others: LlmRequest["tools"]): boolean =>
    !others.some((other) => isSame(tool, other));
  const removed = before.filter((tool) => differs(tool, after));
  const added = after.filter((tool) => differs(tool, before));
  return [...new Set([...removed, ...added].map(({ name }) => name))];
}

/** The settings that providers read before the messages. */
const headSettings = ({ toolChoice, parallelToolCalls, answerSchema, settings }: LlmRequest): unknown => [
  [toolChoice, parallelToolCalls, answerSchema],
  [settings.reasoningEffort, settings.providerOptions],
];

function reasonAt(
  earlier: readonly LlmMessage[],
  later: readonly LlmMessage[],
  index: number,
): BrokenMessages["reason"] {
  const [before, after] = [earlier[index], later[index]];
  if (before === undefined || after === undefined) return "changed";
  if (hasLessResults(before, after)) return "result-left-out";
  if (later.slice(index).some((it) => isSummary(it) && !earlier.some((known) => isSame(known, it))))
    return "summarized";
  if (isBehind(earlier, after, index) || isBehind(later, before, index)) return "window-moved";
  if (isSame(mapFiles(before, fileToName), after)) return "files-left-out";
  return originOf(before) !== "" && originOf(after) === "" ? "reasoning-left-out" : "changed";
}

const [clearedStart = "", clearedEnd = ""] = wording.cleared("\n").split("\n");

/** Whether a turn is shown with fewer of its results. */
const hasLessResults = (before: LlmMessage, after: LlmMessage): boolean =>
  before.role === "assistant" &&
  after.role === "assistant" &&
  isSame(before.turn, after.turn) &&
  after.results.some(
    (result, at) =>
      result.content.startsWith(clearedStart) &&
      result.content.endsWith(clearedEnd) &&
      !isSame(result, before.results[at]),
  );

const isBehind = (messages: readonly LlmMessage[], message: LlmMessage, index: number): boolean =>
  message.role !== "note" && messages.some((it, at) => at > index && isSame(it, message));

const originOf = (message: LlmMessage): string => (message.role === "assistant" ? message.turn.origin : "");
