import { controlEdges, type ControlEdge, type ControlGraph } from "@moora/agent-core-state-machine";

/** An edge of the control graph as text: `Planning --LlmToolCall--> Acting`. */
export const edgeToText = ({ from, event, to }: ControlEdge): string => `${from} --${event}--> ${to}`;

/** The edges of a control graph that were never walked. An agent cannot walk each of them: without tools, none that acts. */
export const unwalkedEdges = (
  edges: Readonly<Record<string, number>>,
  graph: ControlGraph,
): readonly string[] =>
  controlEdges(graph)
    .map(edgeToText)
    .filter((edge) => !Object.hasOwn(edges, edge));

/** How often each fault occurred in each control state: `coverage[control][fault]`. */
export type Coverage = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** The faults among `faults` that came in no control state at all. */
export const neverCame = (coverage: Coverage, faults: readonly string[]): readonly string[] =>
  faults.filter((fault) => !Object.values(coverage).some((row) => row[fault] !== undefined));

const faultsIn = (coverage: Coverage): readonly string[] => [
  ...new Set(Object.values(coverage).flatMap((row) => Object.keys(row))),
];

/** How often each fault occurred in each state, as a text table. */
export function coverageToText(coverage: Coverage): string {
  const controls = Object.keys(coverage).toSorted();
  const faults = faultsIn(coverage).toSorted();
  const width = Math.max(...faults.map((fault) => fault.length), 5) + 1;
  const head = ["fault".padEnd(width), ...controls.map((control) => control.padStart(16))].join("");
  const rows = faults.map((fault) =>
    [
      fault.padEnd(width),
      ...controls.map((control) => String(coverage[control]?.[fault] ?? 0).padStart(16)),
    ].join(""),
  );
  return [head, ...rows].join("\n");
}
