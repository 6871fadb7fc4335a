import type { Difference } from "@moora/agent";
import { oneLine } from "@moora/agent-core-effects/internal";

/** Every difference of two states, for people. */
export const stateDifferences = (
  differences: readonly Difference[],
  { a, b }: { readonly a: string; readonly b: string },
): readonly string[] =>
  differences.flatMap(({ path, a: left, b: right }) => [
    `  ${path}`,
    `    ${a}: ${valueToText(left)}`,
    `    ${b}: ${valueToText(right)}`,
  ]);

const valueToText = (value: unknown): string => (value === undefined ? "-" : oneLine(JSON.stringify(value)));
