import { isJsonObject } from "./json.ts";
import { noUsage, usageNames, type LlmOutcome, type LlmUsage } from "./outcome.ts";

/** The counts that the events of one answer report, by the names of a usage. */
export type ReportedCounts = Partial<LlmUsage>;

/** Where the usage of an API has its counts, with dots between fields. The first one of several that has a count is read. */
export interface UsageFields extends Partial<Readonly<Record<keyof LlmUsage, string | readonly string[]>>> {
  /** Whether cached input is counted apart from new input. Default: false. */
  readonly isApart?: boolean;
}

const valueAt = (usage: unknown, path: string): unknown =>
  path.split(".").reduce((at, key) => (isJsonObject(at) ? at[key] : undefined), usage);

/** Reads the counts of a usage. */
export function readCounts(usage: unknown, fields: UsageFields): ReportedCounts {
  const counts: { -readonly [Name in keyof LlmUsage]?: number } = {};
  for (const name of usageNames) {
    const values = [fields[name] ?? []].flat().map((path) => valueAt(usage, path));
    const count = values.find(isTokenCount);
    if (count !== undefined) counts[name] = count;
  }
  return counts;
}

/** Counts that one event reports together: one of them may be zero because another has its tokens. */
const groups = [usageNames.slice(0, 3), usageNames.slice(3, 4), usageNames.slice(4)];

/**
 * Merges the counts of a later event of one stream, which are cumulative. A missing count does not change the earlier one, and neither
 * does a zero beside no positive count: some gateways send zeros for what an event does not count.
 */
export function laterCounts(before: ReportedCounts, later: ReportedCounts): ReportedCounts {
  const replaced = groups.filter((group) => group.some((name) => (later[name] ?? 0) > 0)).flat();
  const kept = Object.fromEntries(
    Object.entries(before).filter(([name]) => !replaced.some((one) => one === name)),
  );
  return { ...before, ...later, ...kept };
}

/** Whether a value is a number of tokens, as a usage has them. */
export const isTokenCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value) && value >= 0;

/**
 * The usage of counts; undefined if no count is positive, which an answer cannot have: the provider has then reported none. `isApart`:
 * whether it counts cached input apart from new input.
 */
export function countsToUsage(counts: ReportedCounts, isApart: boolean = false): LlmUsage | undefined {
  const usage = { ...noUsage, ...counts };
  if (!Object.values(usage).some((count) => count > 0)) return undefined;
  const { inputTokens, cachedInputTokens, cacheWriteTokens } = usage;
  return isApart ? { ...usage, inputTokens: inputTokens + cachedInputTokens + cacheWriteTokens } : usage;
}

/** What a provider has not reported of an answer; undefined if it has reported all. */
export function missingCount(counts: ReportedCounts): Extract<LlmOutcome, { ok: true }>["usageMissing"] {
  if (countsToUsage(counts) === undefined) return true;
  return (["inputTokens", "outputTokens"] as const).find((name) => counts[name] === undefined);
}
