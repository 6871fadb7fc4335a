/** Thrown when an input breaks a law. The message contains the law and the observation. */
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
  if (!isRecord(a) || !isRecord(b) || Array.isArray(a) !== Array.isArray(b))
    return `${path}: ${shown(a)} and ${shown(b)}`;
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    if (Object.hasOwn(a, key) !== Object.hasOwn(b, key)) return `${path}.${key} is missing on one side`;
    // Most parts of two successive states are the same reference: no path is computed for them.
    if (Object.is(a[key], b[key])) continue;
    const difference = firstDifference(a[key], b[key], `${path}.${key}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

/** True for every object: a type predicate that makes its fields readable without a copy. */
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

const shown = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 200);
