import type { ExploreReport } from "./explore.ts";

/** An exploration as text: the number of states, whether it is complete, and the edges that were not walked. */
export function explorationToText(report: Omit<ExploreReport, "toText">): string {
  const { states, transitions, depth, unwalked, failure } = report;
  return [
    `${states} states and ${transitions} transitions, to a depth of ${depth}: ${coverOf(report)}`,
    ...(unwalked.length === 0 ? [] : [`never walked: ${unwalked.join(", ")}`]),
    ...(failure === undefined
      ? []
      : [`${String(failure.error)}\nafter ${failure.inputs.map(({ type }) => type).join(", ")}`]),
  ].join("\n");
}

function coverOf({ complete, cutOff, failure }: Omit<ExploreReport, "toText">): string {
  if (complete) return "all there are";
  if (failure !== undefined) return "stopped by a failure";
  return cutOff === "depth" ? "there are more below this depth" : "stopped at maxStates, there are more";
}
