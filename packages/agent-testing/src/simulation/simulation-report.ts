import type { Coverage } from "./coverage.ts";
import type { StoryLine } from "./sim-world.ts";
import type { Shrunk } from "./shrink.ts";

/** A simulation that broke a law or an invariant. */
export interface SimulationFailure {
  readonly seed: number;
  readonly failure: unknown;
  readonly shrunk: Shrunk;
}

/** What a simulation did and found. */
export interface SimulationReport {
  /** Nothing was broken, and nothing was missed. */
  readonly ok: boolean;
  readonly seed: number;
  readonly runs: number;
  /** Inputs that were accepted, over all runs. */
  readonly inputs: number;
  /** How often each fault came in each control state: `coverage[control][fault]`. */
  readonly coverage: Coverage;
  /** Pairs that could have happened and never did. */
  readonly missed: readonly string[];
  readonly failure: SimulationFailure | undefined;
  /** The whole as text: a table, and the failure with what reproduces it. */
  print(): string;
}

export const storyToText = (story: readonly StoryLine[]): string =>
  story
    .map(({ what, control, seq }) => `  ${String(seq).padStart(3)} ${control.padEnd(16)} ${what}`)
    .join("\n");

/** One line that runs the failing simulation again, the story of the shrunk one, and a test that is ready to be kept. */
export function failureToText({ seed, failure, shrunk }: SimulationFailure): string {
  return [
    told(failure),
    `reproduce: await simulate(agent, { seed: ${seed}, runs: 1 })`,
    `shrunk to ${shrunk.choices.length - 1} happenings, ${told(shrunk.once.failure)}:`,
    storyToText(shrunk.once.story),
    "",
    failureToTest({ seed, failure, shrunk }),
  ].join("\n");
}

const told = (failure: unknown): string =>
  failure instanceof Error ? `${failure.name}: ${failure.message}` : String(failure);

/** The shrunk simulation as a test for vitest. */
export function failureToTest({ failure, shrunk }: SimulationFailure): string {
  const title =
    failure instanceof Error ? failure.message.replaceAll(/["\n]/g, "'").slice(0, 100) : "a found failure";
  return [
    `it("${title}", async () => {`,
    `  const choices = ${JSON.stringify(shrunk.choices)};`,
    `  expect((await simulateChoices(agent, choices)).failure).toBeUndefined();`,
    `});`,
  ].join("\n");
}
