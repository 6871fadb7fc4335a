import type { Coverage } from "@moora/agent-testing";

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

/**
 * Pairs of a control state and a fault that can come there, and never came, as `Acting crash`, in states that were hit at
 * least `often` times (default: 2,000). A shorter run shows nothing about pairs.
 */
export function missedPairs(
  coverage: Coverage,
  faults: readonly string[],
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

const hitsIn = (row: Readonly<Record<string, number>>): number =>
  Object.values(row).reduce((sum, count) => sum + count, 0);
