import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Agent } from "@moora/agent";
import type { Dialects } from "../laws/request-laws.ts";
import { seededChoose } from "../seeded-choose.ts";
import { choicesFrom, type ChoiceScript } from "./choices.ts";
import type { Invariant } from "./invariants.ts";
import { shrunk } from "./shrink.ts";
import { simulateOnce, type Once, type OnceOptions } from "./simulate-once.ts";
import { coverageToText, missedPairs, type Coverage } from "./coverage.ts";
import {
  failureToTest,
  failureToText,
  type SimulationFailure,
  type SimulationReport,
} from "./simulation-report.ts";

export interface SimulateOptions {
  /** Default: 1. The run with number n has the seed `seed + n`. */
  readonly seed?: number;
  /** Sessions to simulate. Default: 100. */
  readonly runs?: number;
  /** How many things happen in a session before the faults stop. Default: 40. */
  readonly length?: number;
  /** The faults that may come, by name (`crash`, `llm:refusal`) or by the part before the colon (`write`). Default: all. */
  readonly faults?: readonly string[];
  /** Where the found failure is written as a test that is ready to be kept: a folder. Default: nowhere. */
  readonly writeTo?: string;
  /** Promises of your own, looked at after every step. */
  readonly invariants?: Readonly<Record<string, Invariant>>;
  /** What your providers would refuse, by name, beside the rules that all share. */
  readonly dialects?: Dialects;
  /** Whether limits and policies are drawn anew for each session. Default: no, the agent is simulated as it is. */
  readonly drawsConfig?: boolean;
  /** Every how many inputs the laws are checked that cost the whole state. Default: 8. */
  readonly thoroughEvery?: number;
}

const among =
  (names: readonly string[]) =>
  (fault: string): boolean =>
    names.some((name) => fault === name || fault.startsWith(`${name}:`));

function onceOptions(agent: Agent<unknown>, options: SimulateOptions): Omit<OnceOptions, "choices"> {
  const every = options.thoroughEvery ?? 8;
  return {
    agent,
    length: options.length ?? 40,
    faults: options.faults === undefined ? () => true : among(options.faults),
    invariants: options.invariants ?? {},
    dialects: options.dialects ?? {},
    drawsConfig: options.drawsConfig ?? false,
    thoroughly: (count) => count % every === 0,
  };
}

/**
 * Simulates sessions of an agent, deterministically: a clock that is moved by hand, a model that is drawn, tools that
 * fail, lie or never answer, people who decide late, twice or never, crashes, failing writes, second hosts. After every
 * step the laws L1 to L11, the invariants V1 to V14 and your own are checked. The first failure is shrunk.
 */
export async function simulate(
  agent: Agent<unknown>,
  options: SimulateOptions = {},
): Promise<SimulationReport> {
  const { seed = 1, runs = 100 } = options;
  const once = onceOptions(agent, options);
  const coverage: Record<string, Record<string, number>> = {};
  let inputs = 0;
  for (let run = 0; run < runs; run += 1) {
    const choices = choicesFrom(seededChoose(seed + run));
    const result = await simulateOnce({ ...once, choices });
    inputs += result.inputs;
    addHits(coverage, result);
    if (result.failure === undefined) continue;
    const failing = { choices: choices.made, once: result };
    const failure = { seed: seed + run, failure: result.failure, shrunk: await shrunk(once, failing) };
    if (options.writeTo !== undefined) await writeTest(options.writeTo, failure);
    return report(seed, run + 1, inputs, coverage, failure);
  }
  return report(seed, runs, inputs, coverage, undefined);
}

async function writeTest(folder: string, found: SimulationFailure): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `simulated-${found.seed}.test.ts`), failureToTest(found));
}

/** Simulates one session by its choices: how a found failure is kept as a test. */
export const simulateChoices = (
  agent: Agent<unknown>,
  choices: ChoiceScript,
  options: Omit<SimulateOptions, "seed" | "runs" | "length" | "writeTo"> = {},
): Promise<Once> =>
  simulateOnce({ ...onceOptions(agent, options), choices: choicesFrom(choices), length: choices.length - 1 });

function addHits(coverage: Record<string, Record<string, number>>, { hits }: Once): void {
  for (const [control, fault] of hits) {
    const row = (coverage[control] ??= {});
    row[fault] = (row[fault] ?? 0) + 1;
  }
}

function report(
  seed: number,
  runs: number,
  inputs: number,
  coverage: Coverage,
  failure: SimulationFailure | undefined,
): SimulationReport {
  const missed = failure === undefined ? missedPairs(coverage) : [];
  return {
    ok: failure === undefined && missed.length === 0,
    seed,
    runs,
    inputs,
    coverage,
    missed,
    failure,
    print: () =>
      [
        `${runs} sessions from seed ${seed}, ${inputs} inputs`,
        coverageToText(coverage),
        ...(missed.length === 0 ? [] : [`never hit: ${missed.join(", ")}`]),
        ...(failure === undefined ? ["no law and no invariant was broken"] : [failureToText(failure)]),
      ].join("\n\n"),
  };
}
