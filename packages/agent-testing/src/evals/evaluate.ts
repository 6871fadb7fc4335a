import { systemClock, type Agent, type Clock } from "@moora/agent";
import {
  checkOptions,
  didYouMean,
  errorText,
  isObject,
  optionForms,
  refuse,
  required,
  type OptionForms,
} from "@moora/agent-core-effects/internal";
import { oneOf } from "@moora/llm/internal";
import { checkCases, readDataset, type EvalCase } from "./eval-case.ts";
import {
  newReport,
  rounded,
  type CaseResult,
  type EvalGate,
  type EvalReport,
  type EvalResults,
} from "./eval-report.ts";
import { addUsage, isUsage, noUsage, usageOf, type EvalUsage } from "./eval-usage.ts";
import { runCase, whyUnanswered, type RecordedCase } from "./run-case.ts";
import { builtInScorers, isShare, type Score, type Scorer } from "./scorers.ts";

/** The options of `evaluate`. */
export interface EvaluateOptions {
  /** The agent that runs the cases, or a function that makes the one of a case, from what was recorded. */
  readonly agent:
    | Agent<unknown>
    | ((each: EvalCase, recorded: RecordedCase | undefined) => Agent<unknown> | Promise<Agent<unknown>>);
  /** The folder of the data set, as `readDataset` reads it, or its cases. */
  readonly dataset: string | readonly EvalCase[];
  /** Scorers of your own, by name: they score every case. Default: none beside `builtInScorers`. */
  readonly scorers?: Readonly<Record<string, Scorer>>;
  /** When the report is `ok`. Default: every score is 1. */
  readonly gate?: EvalGate;
  /** The results of an earlier run, to compare with. Default: none. */
  readonly last?: EvalResults;
  /** What all cases and scorers may use: once it is spent, no further case begins, those that are left fail, and the report is not `ok`. Default: no limit. */
  readonly budget?: { readonly maxTokens?: number; readonly maxCost?: number };
  /** How many cases run at the same time. Default: 1. */
  readonly concurrency?: number;
  /** What happens to a call without a recorded result: as in `rerunSession`. Default: "fail". */
  readonly unrecorded?: "fail" | "run";
  /** What tools and handlers get as `context.context`. Required for an agent that needs it. Default: none. */
  readonly context?: unknown;
  /** Default: `systemClock`. */
  readonly clock?: Clock;
}

const share = { expectation: "a number from 0 to 1", fits: isShare };

/** Whether a value has what a run is compared with. One without a score would let any drop pass. */
function isResults(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { cases, scores, usage, latencyMs } = value;
  return (
    Array.isArray(cases) &&
    cases.every((each: unknown) => isObject(each) && typeof each["name"] === "string") &&
    isObject(scores) &&
    Object.keys(scores).length > 0 &&
    Object.values(scores).every(isShare) &&
    isUsage(usage) &&
    typeof latencyMs === "number"
  );
}

const evaluateForms: OptionForms<EvaluateOptions> = {
  agent: required({
    expectation: "an agent, or a function that returns one",
    fits: (value) => typeof value === "object" || typeof value === "function",
  }),
  dataset: required({
    expectation: "a folder, or a list of cases",
    fits: (value) => typeof value === "string" || Array.isArray(value),
  }),
  scorers: "object",
  gate: { ...optionForms.object, fields: { minScore: share, minPassRate: share, maxDrop: share } },
  last: { expectation: "the results of a run", fits: isResults },
  budget: { ...optionForms.object, fields: { maxTokens: "positiveInteger", maxCost: "positive" } },
  concurrency: "positiveInteger",
  unrecorded: oneOf("fail", "run"),
  context: "any",
  clock: "clock",
};

/**
 * Runs every case of a data set and scores what became of it. A case with `input` is a new session, in which the tools of the agent
 * run; one with a `session` is run again by `rerunSession`, with its recorded results and decisions. A case fails by a score below the gate, by a
 * loop that fails or has no answer, and by a scorer that throws or returns no score; the others are run. Rejects with `BuildError` for
 * an unknown or invalid option, data set or case, and for a case that nothing scores.
 */
export async function evaluate(options: EvaluateOptions): Promise<EvalReport> {
  checkOptions("evaluate", options, evaluateForms);
  const { dataset, scorers = {}, gate = {}, last, budget = {}, concurrency = 1 } = options;
  const { maxTokens = Infinity, maxCost = Infinity } = budget;
  const { clock = systemClock, unrecorded = "fail" } = options;
  const cases = typeof dataset === "string" ? await readDataset(dataset) : dataset;
  checkCases(cases);
  const known = { ...builtInScorers, ...scorers };
  const queue = cases.map((each) => [each, scorersOf(each, known, scorers)] as const).entries();
  const results: CaseResult[] = [];
  let spent = noUsage;
  let skipped = 0;
  const work = async (): Promise<void> => {
    // The workers share the iterator, so each case is taken once.
    for (const [index, [each, named]] of queue) {
      const isSpent = spent.tokens >= maxTokens || spent.cost >= maxCost;
      const result = isSpent
        ? { ...unscored(each, named), problem: "The budget is used up: it was not run." }
        : await scoredCase(each, named, { ...options, clock, unrecorded });
      if (isSpent) skipped += 1;
      results[index] = result;
      spent = addUsage(spent, result.usage);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return newReport(results, { spent, skipped }, gate, last);
}

type Scorers = Readonly<Record<string, Scorer>>;

/** The scorers of a case: those that it expects something of, and all of the user. */
function scorersOf({ name, expect = {} }: EvalCase, known: Scorers, own: Scorers): Scorers {
  const names = Object.keys(expect);
  const unknown = names.find((each) => !Object.hasOwn(known, each));
  const hint = unknown === undefined ? "" : didYouMean(unknown, Object.keys(known));
  if (unknown !== undefined) refuse(`The case ${name} expects ${unknown}, which is not a scorer.${hint}`);
  // Callers without types may pass any value, and an answer that is not JSON has none, too.
  const nothing = Object.entries(expect).find(([, value]: readonly unknown[]) => value === undefined);
  if (nothing !== undefined)
    refuse(`The case ${name} expects ${nothing[0]} to be undefined, which checks nothing.`);
  if (names.length + Object.keys(own).length === 0)
    refuse(`Nothing scores the case ${name}. Give it expect, or give scorers.`);
  return { ...Object.fromEntries(Object.entries(known).filter(([each]) => names.includes(each))), ...own };
}

/** A case before it is scored: what does not get a score lowers the mean. */
const unscored = ({ name }: EvalCase, scorers: Scorers): CaseResult => ({
  name,
  scores: Object.fromEntries(Object.keys(scorers).map((each) => [each, 0])),
  reasons: {},
  notes: [],
  output: "",
  latencyMs: 0,
  usage: noUsage,
});

/** Runs a case and scores it, up to the first error of both. */
async function scoredCase(
  each: EvalCase,
  scorers: Scorers,
  options: Parameters<typeof runCase>[1] & Pick<EvaluateOptions, "gate">,
): Promise<CaseResult> {
  const { clock, gate: { minScore = 1 } = {} } = options;
  const begun = clock.now();
  const low: string[] = [];
  let done = unscored(each, scorers);
  let failing = "";
  try {
    const { start, notes, ...run } = await runCase(each, options);
    const { state, output } = run;
    done = { ...done, output, notes, latencyMs: clock.now() - begun, usage: usageOf(state, start) };
    const unanswered = whyUnanswered(state);
    if (unanswered !== undefined) refuse(unanswered);
    for (const [name, scorer] of Object.entries(scorers)) {
      failing = `The scorer ${name} failed: `;
      const given = await scorer({ ...run, expected: each.expect?.[name] });
      const { score, reason = "", usage = noUsage } = toScore(given);
      if (score < minScore) low.push(`${name} ${rounded(score)}${reason === "" ? "" : `, ${reason}`}`);
      const reasons = reason === "" ? done.reasons : { ...done.reasons, [name]: reason };
      const scores = { ...done.scores, [name]: score };
      done = { ...done, scores, reasons, usage: addUsage(done.usage, usage) };
    }
    return low.length === 0 ? done : { ...done, problem: low.join("; ") };
  } catch (error) {
    return { ...done, problem: `${failing}${errorText(error)}` };
  }
}

function toScore(given: Score): { score: number; reason?: string; usage?: EvalUsage } {
  const { score, ...more } = isObject(given) ? given : { score: given };
  const value = typeof score === "boolean" ? Number(score) : score;
  if (!isShare(value)) refuse(`a score must be a number from 0 to 1, got ${String(score)}.`);
  if (more.usage !== undefined && !isUsage(more.usage)) refuse("usage must be { tokens, cost }.");
  return { ...more, score: value };
}
