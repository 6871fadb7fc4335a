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
 * Merges the counts of a later event of one stream, which are cumulative. A missing or invalid count does not change the earlier one, and
 * neither does a zero beside no positive count: some gateways send zeros for what an event does not count.
 */
export function laterCounts(before: ReportedCounts, later: ReportedCounts): Partial<LlmUsage> {
  const merged: { -readonly [Name in keyof LlmUsage]?: number } = {};
  for (const names of groups) {
    const replaces = names.some((name) => (countOf(later, name) ?? 0) > 0);
    const [first, second] = replaces ? [later, before] : [before, later];
    for (const name of names) {
      const count = countOf(first, name) ?? countOf(second, name);
      if (count !== undefined) merged[name] = count;
    }
  }
  return merged;
}

const countOf = (counts: ReportedCounts, name: keyof LlmUsage): number | undefined => {
  const count = counts[name];
  return isTokenCount(count) ? count : undefined;
};

/** Whether a value is a number of tokens, as a usage has them. */
export const isTokenCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value) && value >= 0;

/** The usage of counts; undefined if no count is positive, which an answer cannot have: the provider has then reported none. */
export function countsToUsage(counts: ReportedCounts): LlmUsage | undefined {
  const usage = { ...noUsage, ...laterCounts({}, counts) };
  return Object.values(usage).some((count) => count > 0) ? usage : undefined;
}

/** The fields of an answer for its usage, which say what of it the provider has not reported. */
export function usageFields(
  counts: ReportedCounts,
): Pick<Extract<LlmOutcome, { ok: true }>, "usage" | "usageMissing"> {
  const usage = countsToUsage(counts);
  if (usage === undefined) return { usage: noUsage, usageMissing: true };
  const usageMissing = (["inputTokens", "outputTokens"] as const).find(
    (name) => countOf(counts, name) === undefined,
  );
  return { usage, ...(usageMissing === undefined ? {} : { usageMissing }) };
}
