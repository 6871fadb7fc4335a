/** A law of the design that a transcript broke: which one, where, and what was seen. */
export class LawBroken extends Error {
  override readonly name = "LawBroken";
  /** L1 to L11. */
  readonly law: string;

  constructor(law: string, message: string) {
    super(`${law}: ${message}`);
    this.law = law;
  }
}

export function assertLaw(holds: boolean, law: string, message: () => string): asserts holds {
  if (!holds) throw new LawBroken(law, message());
}

/** The first place at which two JSON values differ, as a path with both values; undefined when they are equal. */
export function firstDifference(a: unknown, b: unknown, path = "$"): string | undefined {
  if (Object.is(a, b)) return undefined;
  if (
    typeof a !== "object" ||
    typeof b !== "object" ||
    a === null ||
    b === null ||
    Array.isArray(a) !== Array.isArray(b)
  )
    return `${path}: ${shown(a)} and ${shown(b)}`;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  const left: Readonly<Record<string, unknown>> = { ...a };
  const right: Readonly<Record<string, unknown>> = { ...b };
  for (const key of keys) {
    if (Object.hasOwn(left, key) !== Object.hasOwn(right, key))
      return `${path}.${key} is missing on one side`;
    const difference = firstDifference(left[key], right[key], `${path}.${key}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 200);
