import { isPlanned, type AgentConfig } from "../agent-config.ts";
import { budgetExceeded } from "../budget.ts";
import { recordOf, transcriptOf } from "../collections/state-lists.ts";
import type { StateEdit } from "../state-edit.ts";
import type { AgentState } from "../state.ts";
import type { ControlOf } from "./control.ts";
import { offeredToolsAt } from "./offered-tools.ts";
import {
  callIdsOfEntry,
  clearableIn,
  isCleared,
  sizesIn,
  sizesOf,
  tokensIn,
  tokensOfTools,
  type ContextSizes,
} from "./context-sizes.ts";
import { hiddenRanges, isVisible, summariesIn, type Hidden } from "./visible-entries.ts";
import { halvedWindow, windowOnEntry } from "./window.ts";

/** What the next request contains, and what it leaves out. */
export interface ContextPlan {
  /** The tokens of the next request: the provider's count of the last one, and an estimate of the entries since. */
  readonly tokens: number;
  /** Above it the request is shortened; 0 without a limit. */
  readonly maxInputTokens: number;
  /** The estimated tokens of each part. */
  readonly sizes: ContextSizes;
  /** The number of entries of the transcript that the model does not see, by the reason. */
  readonly leftOut: Readonly<Record<"window" | "summary" | "handoff" | "withheld", number>>;
  /** The ids of the calls whose results are left out. The model can load them again. */
  readonly clearedResults: readonly string[];
  /** The names of the tools that the model has found, and of those that are not offered. Absent where it does not search. */
  readonly tools?: { readonly found: readonly string[]; readonly hidden: readonly string[] };
}

/** The part of the limit that a shortening has to save. */
const worthwhile = 1 / 4;

/** The limit of requests in tokens; 0 without one, and in a configuration that is older than this plan. */
export const inputLimit = ({ context, reflection }: AgentConfig): number =>
  context === undefined ? 0 : (context.maxInputTokens ?? reflection.aboveInputTokens);

/** What the next request of a state contains, and what it leaves out. The cost depends on the length of its window. */
export function contextAt(state: AgentState): ContextPlan {
  const { windowStart } = state.reActContext;
  const transcript = transcriptOf(state);
  const hidden = hiddenFrom(state, windowStart);
  const leftOut = { window: windowStart, summary: 0, handoff: 0, withheld: 0 };
  const clearedResults: string[] = [];
  for (let index = windowStart; index < transcript.length; index += 1) {
    const entry = transcript.at(index);
    if (entry === undefined) continue;
    if (entry.withheld === true) leftOut.withheld += 1;
    else if (!isVisible(entry, index, hidden)) leftOut[hiddenBy(index, hidden)] += 1;
    else clearedResults.push(...callIdsOfEntry(entry).filter((id) => isClearedCall(state, index, id)));
  }
  const { found, hidden: searched } = offeredToolsAt(state, Infinity) ?? {};
  return {
    tokens: nextTokens(state),
    maxInputTokens: inputLimit(state.config),
    sizes: sizesOf(state, windowStart, transcript.length, hidden),
    leftOut,
    clearedResults,
    ...(found === undefined || searched === undefined ? {} : { tools: { found, hidden: searched } }),
  };
}

function isClearedCall(state: AgentState, index: number, id: string): boolean {
  const record = recordOf(state, id);
  return record !== undefined && isCleared(state, index, record);
}

const hiddenFrom = (state: AgentState, from: number): readonly Hidden[] =>
  hiddenRanges(state, from, transcriptOf(state).length);

const hiddenBy = (index: number, hidden: readonly Hidden[]): Hidden["type"] =>
  hidden.find(({ since, until }) => index >= since && index < until)?.type ?? "summary";

/** The tokens of the next request: the count of the last one, and an estimate of the entries since. Without a count, an estimate. */
export function nextTokens(state: AgentState): number {
  const { inputTokens, windowStart } = state.reActContext;
  const { length } = transcriptOf(state);
  return inputTokens > 0
    ? inputTokens + asCounted(state, addedTokens(state))
    : tokensIn(sizesOf(state, windowStart, length, hiddenFrom(state, windowStart)));
}

/** An estimate of the entries since the last request, and of the tools that were found since. */
function addedTokens(state: AgentState): number {
  const entries = tokensIn(sizesIn(state, state.reActContext.seen, transcriptOf(state).length, []));
  const now = offeredToolsAt(state)?.found;
  const next = now && offeredToolsAt(state, Infinity)?.found.filter((name) => !now.includes(name));
  return entries + tokensOfTools(state, next ?? []);
}

/** Estimated tokens as the provider counts them. */
const asCounted = ({ reActContext: { counted } }: AgentState, tokens: number): number =>
  Math.ceil(tokens * (counted?.ratio ?? 1));

/** The end of what a summary covers: before the newest turns, of which the model has not read the results of the last one. */
export function summaryEnd(edit: StateEdit): number {
  const { context } = edit.config;
  if (context === undefined) return transcriptOf(edit).length;
  const { windowStart } = edit.reActContext;
  const preferred = newestTurns(edit, context.keepNewest);
  return summarized(edit, windowStart, preferred) >= inputLimit(edit.config) * worthwhile
    ? preferred
    : newestTurns(edit, 1);
}

/** The index of the first of the newest turns, so many as given; the start of the window if there are fewer. */
export function newestTurns(state: AgentState, count: number): number {
  const { windowStart } = state.reActContext;
  const transcript = transcriptOf(state);
  if (count === 0) return transcript.length;
  let left = count;
  for (let index = transcript.length - 1; index >= windowStart; index -= 1) {
    const entry = transcript.at(index);
    if (entry?.type === "turn" && entry.withheld !== true) left -= 1;
    if (left === 0) return index;
  }
  return windowStart;
}

/** The tokens that a summary of `[since, until)` saves. Messages of the user are not summarized. */
function summarized(state: AgentState, since: number, until: number): number {
  const sizes = sizesIn(state, since, until, hiddenFrom(state, since));
  return asCounted(state, tokensIn(sizes) - sizes.messages);
}

/** Whether to make a summary: it would hide entries, the budget allows it, and it has not failed too often in this loop. */
export function maySummarize(edit: StateEdit, since: number, until: number): boolean {
  const { config, reActContext } = edit;
  if (config.context?.summarize === false) return false;
  if (reActContext.summariesFailed > config.retries.maxAnswerRetries) return false;
  return canCompress(edit, since, until) && !budgetExceeded(edit);
}

/** Whether a summary would hide entries: there is a turn in `[since, until)` that no summary hides yet. */
function canCompress(state: AgentState, since: number, until: number): boolean {
  const transcript = transcriptOf(state);
  const hidden = summariesIn(state, since, transcript.length);
  for (let index = until - 1; index >= since; index -= 1) {
    const entry = transcript.at(index);
    if (entry?.type === "turn" && isVisible(entry, index, hidden)) return true;
  }
  return false;
}

/**
 * Shortens the next request if it is above its limit: leaves out old results, or the older half of the window. Returns whether a summary is
 * wanted. What saves little is not done.
 */
export function shortenContext(edit: StateEdit, canSummarize: boolean = true): boolean {
  const { context: policy } = edit.config;
  const limit = inputLimit(edit.config);
  if (policy === undefined || limit === 0) return false;
  const clearAbove = policy.clearToolResultsAbove ?? limit;
  const tokens = nextTokens(edit);
  const isShorter = tokens > clearAbove && clearResults(edit, policy.keepNewest, clearAbove);
  if ((isShorter ? nextTokens(edit) : tokens) <= limit) return false;
  const { windowStart, loop, step, summarizedAt } = edit.reActContext;
  const isFirst = summarizedAt?.loop !== loop || summarizedAt.step !== step;
  const until = summaryEnd(edit);
  const saves = summarized(edit, windowStart, until) >= limit * worthwhile;
  if (canSummarize && isFirst && saves && maySummarize(edit, windowStart, until)) {
    edit.setContext({ summarizedAt: { loop, step } });
    return true;
  }
  narrow(edit, limit);
  return false;
}

/** Leaves out the results before the newest turns, if that saves a part of a limit. Returns whether it does. */
export function clearResults(edit: StateEdit, keepNewest: number, limit: number): boolean {
  const { windowStart, clearedUntil = 0 } = edit.reActContext;
  const until = newestTurns(edit, keepNewest);
  const saved = clearable(edit, Math.max(windowStart, clearedUntil), until);
  if (saved === 0 || saved < limit * worthwhile) return false;
  edit.setContext({ clearedUntil: until });
  countSaved(edit, saved);
  return true;
}

/** Leaves out the results of the newest turn as well, if they are a large part of the request. */
export function clearNewest(edit: StateEdit): boolean {
  const newest = clearable(edit, newestTurns(edit, 1), transcriptOf(edit).length);
  return newest >= nextTokens(edit) * worthwhile && clearResults(edit, 0, 0);
}

const clearable = (edit: StateEdit, from: number, until: number): number =>
  asCounted(edit, clearableIn(edit, from, until, hiddenFrom(edit, edit.reActContext.windowStart)));

function narrow(edit: StateEdit, limit: number): void {
  const { windowStart } = edit.reActContext;
  const window = halvedWindow(edit);
  if (window === undefined) return;
  const saved = visibleTokens(edit, windowStart, window.windowStart);
  if (saved < limit * worthwhile) return;
  edit.setContext(window);
  countSaved(edit, saved);
}

const visibleTokens = (state: AgentState, from: number, until: number): number =>
  from >= until ? 0 : asCounted(state, tokensIn(sizesIn(state, from, until, hiddenFrom(state, from))));

/** Moves the window to the next request, whose estimated tokens are its count until the provider's is known. */
export function moveWindow(edit: StateEdit): void {
  const { windowStart, inputTokens, counted } = edit.reActContext;
  if (!isPlanned(edit.config)) return edit.setContext(windowOnEntry(edit));
  const limit = inputLimit(edit.config);
  const added = inputTokens > 0 ? addedTokens(edit) : 0;
  const before = inputTokens > 0 ? inputTokens + asCounted(edit, added) : nextTokens(edit);
  const window = windowOnEntry(
    edit,
    (start) => limit === 0 || before + visibleTokens(edit, start, windowStart) <= limit,
  );
  const moved =
    visibleTokens(edit, window.windowStart, windowStart) -
    visibleTokens(edit, windowStart, window.windowStart);
  const isAddition = moved === 0 && counted !== undefined && inputTokens === counted.tokens;
  edit.setContext({
    ...window,
    inputTokens: Math.max(1, before + moved),
    ...(counted === undefined ? {} : { counted: { ...counted, added: isAddition ? added : 0 } }),
  });
}

/**
 * Adds a summary to the transcript. It hides what it covers, except the newest turn, whose results the model has not read. The next request
 * is shorter by what it hides.
 */
export function addSummary(edit: StateEdit, { since, covers }: ControlOf<"Reflecting">, text: string): void {
  const plans = isPlanned(edit.config);
  const until = plans ? Math.max(since, Math.min(covers, newestTurns(edit, 1))) : covers;
  if (plans) countSaved(edit, summarized(edit, since, until));
  edit.addEntry({ type: "summary", text, since, until });
}

/** The sizes of a request that the model has refused as too long, for people; empty for a configuration without `context`. */
export function sizesText(state: AgentState): string {
  if (!isPlanned(state.config)) return "";
  const { sizes } = contextAt(state);
  const parts = Object.entries(sizes).map(([part, tokens]) => `${part} ${tokens}`);
  return ` Estimated tokens: ${parts.join(", ")}. Nothing is left that could be left out.`;
}

/** Takes from the count of the last request what the next one leaves out. */
function countSaved(edit: StateEdit, tokens: number): void {
  const { inputTokens } = edit.reActContext;
  if (inputTokens > 0) edit.setContext({ inputTokens: Math.max(1, Math.floor(inputTokens - tokens)) });
}
