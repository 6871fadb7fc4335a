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

/** Where faults can come that cannot come everywhere, by their own name or the part of it before the colon. */
const onlyIn: Readonly<Record<string, readonly string[]>> = {
  llm: ["Planning", "Reflecting"],
  tool: ["Acting", "ParallelActing", "WaitingForHuman"],
  "cancel:sub-agent": ["Acting", "ParallelActing"],
  "outside-result": ["Acting", "ParallelActing", "WaitingForHuman"],
  "forged-decision": ["WaitingForHuman"],
};

/** Before the first message there is nothing to repeat, to answer late or to decide. */
const neverIdle: ReadonlySet<string> = new Set(["double-answer", "late-result"]);

const canCome = (fault: string, control: string): boolean =>
  !(control === "Idle" && neverIdle.has(fault)) &&
  ((onlyIn[fault] ?? onlyIn[fault.split(":", 1)[0] ?? ""])?.includes(control) ?? true);

/** The faults among `faults` that came in no control state at all. */
export const neverCame = (coverage: Coverage, faults: readonly string[]): readonly string[] =>
  faults.filter((fault) => !Object.values(coverage).some((row) => row[fault] !== undefined));

/**
 * Pairs of a control state and a fault that can come there, and never came, as `Acting crash`, in states that were hit at
 * least `often` times (default: 2,000). A shorter run shows nothing about pairs.
 */
export function missedPairs(
  coverage: Coverage,
  faults: readonly string[] = faultsIn(coverage),
  often: number = 2_000,
): readonly string[] {
  return Object.entries(coverage).flatMap(([control, row]) =>
    hitsIn(row) < often
      ? []
      : faults
          .filter((fault) => canCome(fault, control) && row[fault] === undefined)
          .map((fault) => `${control} ${fault}`),
  );
}

const faultsIn = (coverage: Coverage): readonly string[] => [
  ...new Set(Object.values(coverage).flatMap((row) => Object.keys(row))),
];

const hitsIn = (row: Readonly<Record<string, number>>): number =>
  Object.values(row).reduce((sum, count) => sum + count, 0);

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
