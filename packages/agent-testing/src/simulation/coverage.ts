/** How often each kind of fault came in each control state: `coverage[control][fault]`. */
export type Coverage = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** A state that was hit this often has been there for every fault that can come there: the rarest is one in a hundred. */
const often = 2_000;

/** Where faults can come that cannot come everywhere, by the part of their name before the colon. */
const homes: Readonly<Record<string, readonly string[]>> = {
  llm: ["Planning", "Reflecting"],
  tool: ["Acting", "ParallelActing", "WaitingForHuman"],
  "forged-decision": ["WaitingForHuman"],
};

const canCome = (fault: string, control: string): boolean =>
  homes[fault.split(":", 1)[0] ?? ""]?.includes(control) ?? true;

/**
 * Pairs of a control state and a fault that can come there, and never came, in states that were seen often enough for
 * every one. A fault that came nowhere at all was left out by choice.
 */
export function missedPairs(coverage: Coverage): readonly string[] {
  const faults = new Set(Object.values(coverage).flatMap((row) => Object.keys(row)));
  return Object.entries(coverage).flatMap(([control, row]) =>
    hitsIn(row) < often
      ? []
      : [...faults]
          .filter((fault) => canCome(fault, control) && row[fault] === undefined)
          .map((fault) => `${control} ${fault}`),
  );
}

const hitsIn = (row: Readonly<Record<string, number>>): number =>
  Object.values(row).reduce((sum, count) => sum + count, 0);

/** How often each fault came in each state, as a table of text. */
export function coverageToText(coverage: Coverage): string {
  const controls = Object.keys(coverage).toSorted();
  const faults = [...new Set(controls.flatMap((control) => Object.keys(coverage[control] ?? {})))].toSorted();
  const width = Math.max(...faults.map((fault) => fault.length), 5);
  const head = ["fault".padEnd(width), ...controls.map((control) => control.padStart(16))].join("");
  const rows = faults.map((fault) =>
    [
      fault.padEnd(width),
      ...controls.map((control) => String(coverage[control]?.[fault] ?? 0).padStart(16)),
    ].join(""),
  );
  return [head, ...rows].join("\n");
}
