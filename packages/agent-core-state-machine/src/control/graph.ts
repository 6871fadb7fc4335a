import type { ControlGraph } from "../config-parts.ts";
import { builtInStates, isBuiltInState, nextStateName, transitionTable } from "./transition-table.ts";

/** An edge of the control graph: `event` leads from one state to another. */
export interface ControlEdge {
  readonly from: string;
  readonly event: string;
  readonly to: string;
}

const noGraph: ControlGraph = { states: [], rows: {}, terminals: [] };

/** The edges of a control graph: the built-in rows and the custom ones, which take precedence. */
export function controlEdges(graph: ControlGraph = noGraph): readonly ControlEdge[] {
  const waiting = graph.states.filter((state) => !graph.terminals.includes(state));
  const pairs = [
    ...builtInStates.flatMap((from) =>
      Object.keys(transitionTable[from]).map((event) => [from, event] as const),
    ),
    ...waiting.map((from) => [from, "Cancelled"] as const),
    ...Object.entries(graph.rows).flatMap(([from, row]) =>
      Object.keys(row).map((event) => [from, event] as const),
    ),
  ];
  const unique = new Map(pairs.map((pair) => [pair.join("\n"), pair]));
  return [...unique.values()].flatMap(([from, event]) => {
    const to = nextStateName(graph, from, event);
    return to === undefined ? [] : [{ from, event, to }];
  });
}

/** The graph as the text of a Mermaid state diagram. Edges between the same two states share an arrow. */
export function graphToMermaid(graph: ControlGraph = noGraph): string {
  const arrows = new Map<string, string[]>();
  for (const { from, event, to } of controlEdges(graph)) {
    const arrow = `${from} --> ${to}`;
    arrows.set(arrow, [...(arrows.get(arrow) ?? []), event]);
  }
  const ends = ["Done", "Error", ...graph.terminals];
  return [
    "stateDiagram-v2",
    "  [*] --> Idle",
    ...[...arrows].map(([arrow, events]) => `  ${arrow}: ${events.join(", ")}`),
    ...ends.map((end) => `  ${end} --> [*]`),
  ].join("\n");
}

/** The problems of a custom graph, one sentence for each; empty for a valid graph. */
export function graphProblems(graph: ControlGraph): readonly string[] {
  const known = new Set<string>([...builtInStates, ...graph.states]);
  const problems: string[] = [];
  for (const name of graph.states) {
    if (isBuiltInState(name) || name === "Custom")
      problems.push(`The state ${name} is built in; choose another name.`);
    if (graph.states.indexOf(name) !== graph.states.lastIndexOf(name))
      problems.push(`The state ${name} is defined twice.`);
  }
  for (const terminal of graph.terminals)
    if (!graph.states.includes(terminal)) problems.push(`The terminal state ${terminal} is not defined.`);
  for (const [from, row] of Object.entries(graph.rows)) {
    if (!known.has(from)) problems.push(`A row starts at ${from}, which is not a state.`);
    if (from === "Done" || from === "Error" || graph.terminals.includes(from))
      problems.push(`A row starts at ${from}, where every loop ends.`);
    for (const [event, to] of Object.entries(row)) {
      if (to === null) {
        const kept = { ...graph, rows: { ...graph.rows, [from]: {} } };
        if (nextStateName(kept, from, event) === undefined)
          problems.push(`The row ${from} --${event}--> is removed, and does not exist.`);
        continue;
      }
      if (!known.has(to)) problems.push(`The row ${from} --${event}--> ${to} leads to no state.`);
      if (to === "Idle")
        problems.push(`The row ${from} --${event}--> Idle: only a new conversation is Idle.`);
    }
  }
  const reachable = reachableFrom("Idle", controlEdges(graph));
  for (const state of graph.states)
    if (!reachable.has(state)) problems.push(`No row leads to the state ${state}.`);
  for (const state of graph.states) {
    if (!graph.terminals.includes(state) && Object.values(graph.rows[state] ?? {}).every((to) => to === null))
      problems.push(`No row leads out of the state ${state}; make it a terminal state or add one.`);
  }
  return problems;
}

function reachableFrom(start: string, edges: readonly ControlEdge[]): ReadonlySet<string> {
  const reached = new Set([start]);
  for (const state of reached) for (const { from, to } of edges) if (from === state) reached.add(to);
  return reached;
}
