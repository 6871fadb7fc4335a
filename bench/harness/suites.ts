import type { Row } from "./row.ts";

/** The suites, in the order of the table. Each one runs in processes of its own, and its module exports its rows. */
export const suiteNames = [
  "step",
  "growth",
  "turn",
  "durable-turn",
  "durable-step",
  "live",
  "data",
  "fold",
  "open",
  "memory",
] as const;

export type SuiteName = (typeof suiteNames)[number];

/** The rows of each suite. A suite is loaded when it runs. */
const suites: Readonly<Record<SuiteName, () => Promise<{ readonly rows: readonly Row[] }>>> = {
  step: () => import("../suites/step.ts"),
  growth: () => import("../suites/growth.ts"),
  turn: () => import("../suites/turn.ts"),
  "durable-turn": () => import("../suites/durable-turn.ts"),
  "durable-step": () => import("../suites/durable-step.ts"),
  data: () => import("../suites/data.ts"),
  live: () => import("../suites/live.ts"),
  fold: () => import("../suites/fold.ts"),
  open: () => import("../suites/open.ts"),
  memory: () => import("../suites/memory.ts"),
};

export const rowsOf = async (suite: SuiteName): Promise<readonly Row[]> => (await suites[suite]()).rows;

/** Whether names on the command line select a row or a suite; none selects everything. */
export const isSelected = (name: string, selection: readonly string[]): boolean =>
  selection.length === 0 || selection.some((wanted) => wanted === name || name.startsWith(`${wanted}/`));
