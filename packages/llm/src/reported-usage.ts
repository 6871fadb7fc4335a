import { noUsage, type LlmOutcome, type LlmUsage } from "./outcome.ts";

/**
 * The counts that the events of one answer report, by the names of a usage. A provider that counts cached input apart from new input
 * does so here, too.
 */
export type ReportedCounts = { readonly [Name in keyof LlmUsage]?: number | null | undefined };

/** Counts that one event reports together: one of them may be zero because another has its tokens. */
const groups: readonly (readonly (keyof LlmUsage)[])[] = [
  ["inputTokens", "cachedInputTokens", "cacheWriteTokens"],
  ["outputTokens"],
  ["reasoningTokens"],
];

/**
 * Merges the counts of a later event of one stream, which are cumulative. A missing count does not change the earlier one, and neither
 * does a zero beside no positive count: some gateways send zeros for what an event does not count.
 */
export function laterCounts(before: ReportedCounts, later: ReportedCounts): LlmUsage {
  const merged: { -readonly [Name in keyof LlmUsage]: number } = { ...noUsage };
  for (const names of groups) {
    const replaces = names.some((name) => countOf(later, name) > 0);
    for (const name of names)
      merged[name] = replaces && later[name] != null ? countOf(later, name) : countOf(before, name);
  }
  return merged;
}

const countOf = (counts: ReportedCounts, name: keyof LlmUsage): number => {
  const count = counts[name];
  return typeof count === "number" && Number.isFinite(count) ? count : 0;
};

/** The usage of counts; undefined if no count is positive, which an answer cannot have: the provider has then reported none. */
export function countsToUsage(counts: ReportedCounts): LlmUsage | undefined {
  const usage = laterCounts({}, counts);
  return Object.values(usage).some((count) => count > 0) ? usage : undefined;
}

/** The fields of an answer for its usage; undefined if the provider has reported none. */
export const usageFields = (
  usage: LlmUsage | undefined,
): Pick<Extract<LlmOutcome, { ok: true }>, "usage" | "usageMissing"> =>
  usage === undefined ? { usage: noUsage, usageMissing: true } : { usage };
