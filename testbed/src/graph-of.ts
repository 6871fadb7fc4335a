import type { ControlGraph } from "@moora/agent-core-state-machine";

const builtIn: ReadonlySet<string> = new Set([
  "Planning",
  "Reflecting",
  "WaitingForHuman",
  "Acting",
  "ParallelActing",
  "Observing",
]);

/** A control graph of these rows: the states that are not built in are custom ones, and none is terminal. */
export const graphOf = (rows: ControlGraph["rows"]): ControlGraph => ({
  states: Object.keys(rows).filter((name) => !builtIn.has(name)),
  rows,
  terminals: [],
});
