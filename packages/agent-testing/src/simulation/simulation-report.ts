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

/** Seeds mean the same sessions only for the same version of the simulation. */
export const simulationVersion = "0.1.0";

/** One line that runs the failing simulation again, the story of the shrunk one, and a test that is ready to be kept. */
export const failureToText = (found: SimulationFailure): string =>
  [
    told(found.failure),
    `reproduce: await simulate(agent, { seed: ${found.seed}, runs: 1 }) with version ${simulationVersion}`,
    `shrunk to ${found.shrunk.choices.length - 1} happenings, ${told(found.shrunk.once.failure)}:`,
    storyToText(found.shrunk.once.story),
    "",
    failureToTest(found),
  ].join("\n");

const told = (failure: unknown): string =>
  failure instanceof Error ? `${failure.name}: ${failure.message}` : String(failure);

/** The shrunk simulation as a file of tests for vitest, but for the place of the agent. */
export function failureToTest({ failure, shrunk }: SimulationFailure): string {
  const title = told(failure)
    .replaceAll(/["\\\n]/g, "'")
    .slice(0, 100);
  return [
    `import { simulateChoices } from "@moora/agent-testing";`,
    `import { expect, it } from "vitest";`,
    `import { agent } from "./agent.ts"; // the agent that was simulated`,
    ``,
    ...storyToText(shrunk.once.story)
      .split("\n")
      .map((line) => `// ${line.trim()}`),
    `it("${title}", async () => {`,
    `  const choices = ${JSON.stringify(shrunk.choices)};`,
    `  expect((await simulateChoices(agent, choices)).failure).toBeUndefined();`,
    `});`,
    ``,
  ].join("\n");
}
