import { coverageToText, type Coverage } from "./coverage.ts";
import type { SessionResult } from "./simulate-session.ts";
import type { StoryLine } from "./sim-world.ts";

/** A simulated session that broke a law or an invariant. */
export interface SimulationFailure {
  /** The seed of this session. */
  readonly seed: number;
  /** What was thrown: `LawBroken` or `InvariantBroken`. */
  readonly failure: unknown;
  /** A line of code that simulates the session again, from its seed and every option. */
  readonly reproduce: string;
  /** The shortest session that was found to fail in the same way. */
  readonly shrunk: SessionResult;
  /** The shrunk session as a file of tests for vitest. Undefined without `source`, where it could not import the agent. */
  readonly test: string | undefined;
}

/** The report of a simulation. */
export interface SimulationReport {
  /**
   * No law and no invariant was broken in these sessions. It means nothing for faults that never came: see
   * `neverCame`. The rule is the same for one session and for a million.
   */
  readonly ok: boolean;
  readonly seed: number;
  /** The number of simulated sessions: all, or up to the one that failed. */
  readonly runs: number;
  /** The number of accepted inputs in all sessions. */
  readonly inputs: number;
  /** How often each fault occurred in each control state: `coverage[control][fault]`. */
  readonly coverage: Coverage;
  /** How often each edge of the control graph was walked, as `Planning --LlmToolCall--> Acting`. */
  readonly edges: Readonly<Record<string, number>>;
  /** The edges of the agent's control graph that were never walked; this agent may not be able to walk each of them. */
  readonly unwalked: readonly string[];
  /** Faults that were allowed and came in no session: the run was too short, or this agent cannot meet them. */
  readonly neverCame: readonly string[];
  /** Whose rules each request was held to, beside those that all providers share. */
  readonly dialects: readonly string[];
  /** Name and version of the agent, and a digest of its config and tools. */
  readonly identity: string;
  readonly failure: SimulationFailure | undefined;
  /** The report as text: a table, and the failure with the code that reproduces it. */
  toText(): string;
}

/** The history of a session, one line for each action: the length of the log, the control state, the action. */
export const storyToText = (story: readonly StoryLine[]): string =>
  story
    .map(({ what, control, seq }) => `  ${String(seq).padStart(3)} ${control.padEnd(16)} ${what}`)
    .join("\n");

/** An error as one line. */
export const failureToLine = (failure: unknown): string =>
  failure instanceof Error ? `${failure.name}: ${failure.message}` : String(failure);

function edgesToText({ edges, unwalked }: Pick<SimulationReport, "edges" | "unwalked">): string {
  const walked = Object.keys(edges).length;
  return `${walked} of ${walked + unwalked.length} edges of the control graph were walked`;
}

/** The report as text. */
export function reportToText(report: Omit<SimulationReport, "toText">): string {
  const { runs, seed, inputs, coverage, dialects, failure, identity } = report;
  const rules = dialects.length === 0 ? "" : `, and to ${dialects.join(", ")}`;
  return [
    `${runs} sessions from seed ${seed}, ${inputs} inputs; ${identity}`,
    `requests were held to the rules that all providers share${rules}`,
    coverageToText(coverage),
    edgesToText(report),
    ...(report.neverCame.length === 0 ? [] : [`never came: ${report.neverCame.join(", ")}`]),
    failure === undefined ? "no law and no invariant was broken" : simulationFailureToText(failure, identity),
  ].join("\n\n");
}

function simulationFailureToText(found: SimulationFailure, identity: string): string {
  const { shrunk, test } = found;
  return [
    failureToLine(found.failure),
    `reproduce: ${found.reproduce}`,
    `     with: ${identity}`,
    `shrunk to ${shrunk.session.actions.length} actions, ${failureToLine(shrunk.failure)}:`,
    storyToText(shrunk.story),
    ...(test === undefined ? [] : ["", test]),
  ].join("\n");
}
