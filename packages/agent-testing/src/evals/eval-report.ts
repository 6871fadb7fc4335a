import type { EvalUsage } from "./eval-usage.ts";

/** What became of one case. */
export interface CaseResult {
  readonly name: string;
  /** Each from 0 to 1, by the name of the scorer. 0 for a scorer that gave none, as in a case that was not run. */
  readonly scores: Readonly<Record<string, number>>;
  /** What scorers say of their score, by the name of the scorer. */
  readonly reasons: Readonly<Record<string, string>>;
  /** Why it did not pass: scores below the gate, a loop or a scorer that failed, or a budget that was used up. */
  readonly problem?: string;
  /** What is worth knowing, such as calls without a recorded result. */
  readonly notes: readonly string[];
  /** The text of the answer. */
  readonly output: string;
  /** How long the agent took. */
  readonly latencyMs: number;
  /** What the run and its scorers used. */
  readonly usage: EvalUsage;
}

/** The results of an evaluation as plain JSON, for the next one to compare with. */
export interface EvalResults {
  readonly cases: readonly CaseResult[];
  /** The mean of each scorer. */
  readonly scores: Readonly<Record<string, number>>;
  readonly usage: EvalUsage;
  /** How long the agent took for all cases. */
  readonly latencyMs: number;
}

/** The result of `evaluate`. As JSON it is `EvalResults`, with `ok` and `problems`. */
export interface EvalReport extends EvalResults {
  /** Whether the gate holds. */
  readonly ok: boolean;
  /** Why it does not. */
  readonly problems: readonly string[];
  /** A table for people, with what is wrong below. */
  toText(): string;
  /** A report for CI systems, in the XML of JUnit. `shown`: what it has of a text, such as without secrets. Default: all of it. */
  toJUnit(shown?: (text: string) => string): string;
}

/** When an evaluation is `ok`. */
export interface EvalGate {
  /** The least score with which a case passes. Default: 1. */
  readonly minScore?: number;
  /** The least part of the cases that pass. Default: 1. */
  readonly minPassRate?: number;
  /** How far the mean of a scorer may be below that of the last run. Default: 1, which is any. */
  readonly maxDrop?: number;
}

export function newReport(
  cases: readonly CaseResult[],
  usage: EvalUsage,
  { minPassRate = 1, maxDrop = 1 }: EvalGate,
  last: EvalResults | undefined,
): EvalReport {
  const latencyMs = cases.reduce((sum, each) => sum + each.latencyMs, 0);
  const results: EvalResults = { cases, scores: meansOf(cases), usage, latencyMs };
  const passed = cases.filter(({ problem }) => problem === undefined).length;
  const counted = `${passed} of ${cases.length} cases passed`;
  const problems = [
    ...(passed / cases.length < minPassRate ? [`${counted}, and ${rounded(minPassRate * 100)} % must`] : []),
    ...dropsIn(results, last, maxDrop),
  ];
  const uncompared = last === undefined && maxDrop < 1 ? "; no last run to compare with" : "";
  const verdict = problems.length === 0 ? `ok: ${counted}${uncompared}` : `not ok: ${problems.join("; ")}`;
  return {
    ok: problems.length === 0,
    problems,
    ...results,
    toText: () => [...tableOf(results, last), ...remarksOn(results, last), verdict].join("\n"),
    toJUnit: (shown = (text) => text) => casesToJUnit(cases, shown),
  };
}

function meansOf(cases: readonly CaseResult[]): EvalResults["scores"] {
  const names = new Set(cases.flatMap(({ scores }) => Object.keys(scores)));
  const meanOf = (name: string): number => {
    const all = cases.flatMap(({ scores }) => scores[name] ?? []);
    return all.reduce((sum, score) => sum + score, 0) / all.length;
  };
  return Object.fromEntries([...names].map((name) => [name, meanOf(name)]));
}

const dropsIn = ({ scores }: EvalResults, last: EvalResults | undefined, most: number): readonly string[] =>
  Object.entries(last?.scores ?? {}).flatMap(([name, was]) => {
    const is = scores[name] ?? 0;
    const drop = `${name} fell from ${rounded(was)} to ${rounded(is)}, by more than ${most}`;
    return was - is > most ? [drop] : [];
  });

export const rounded = (value: number): string => String(Math.round(value * 1_000) / 1_000);

function tableOf(results: EvalResults, last: EvalResults | undefined): readonly string[] {
  const names = Object.keys(results.scores);
  const all = [
    ...results.cases,
    { name: "mean, sum", ...results },
    ...(last === undefined ? [] : [{ name: "last run", ...last }]),
  ];
  const rows = all.map(({ name, scores, usage: { tokens, cost }, latencyMs }) => {
    const shown = names.map((scorer) => (scores[scorer] === undefined ? "" : rounded(scores[scorer])));
    return [name, ...shown, String(tokens), cost === 0 ? "" : cost.toPrecision(3), String(latencyMs)];
  });
  const table = [["case", ...names, "tokens", "cost", "ms"], ...rows];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const padded = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths?.[0] ?? 0) : cell.padStart(widths?.[column] ?? 0);
  return table.map((row) => row.map(padded).join("  "));
}

function remarksOn({ cases }: EvalResults, last: EvalResults | undefined): readonly string[] {
  const passedBefore = new Set(
    last?.cases.flatMap(({ name, problem }) => (problem === undefined ? [name] : [])),
  );
  return cases.flatMap(({ name, problem, notes }) => {
    const since = passedBefore.has(name) ? " (passed in the last run)" : "";
    return [...notes, ...(problem === undefined ? [] : [`${problem}${since}`])].map(
      (text) => `${name}: ${text}`,
    );
  });
}

function casesToJUnit(cases: readonly CaseResult[], shown: (text: string) => string): string {
  const quoted = (text: string): string => escaped(shown(text));
  const tests = cases.map(({ name, problem, latencyMs }) => {
    const head = `  <testcase name="${quoted(name)}" time="${latencyMs / 1_000}"`;
    const failure = `><failure message="${quoted(problem ?? "")}"/></testcase>`;
    return `${head}${problem === undefined ? "/>" : failure}`;
  });
  const failures = cases.filter(({ problem }) => problem !== undefined).length;
  const head = `<testsuite name="evals" tests="${cases.length}" failures="${failures}">`;
  return ['<?xml version="1.0" encoding="UTF-8"?>', head, ...tests, "</testsuite>", ""].join("\n");
}

/** A text for an attribute. XML has no control characters. */
const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[^\P{Cc}\n]/gu, " ")
    .replaceAll(/[&<>"\n]/g, (sign) => `&#${sign.codePointAt(0)};`);
