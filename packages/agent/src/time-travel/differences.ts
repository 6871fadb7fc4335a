/**
 * A path at which two JSON values differ, such as `messages[0].content`, and both values; undefined where a value is
 * missing.
 */
export interface Difference {
  readonly path: string;
  readonly a: unknown;
  readonly b: unknown;
}

/** The differences of two JSON values, in order. At most `most` of them; default: 100. */
export function differencesOf(a: unknown, b: unknown, most = 100): readonly Difference[] {
  const found: Difference[] = [];
  compare(a, b, "", (difference) => {
    found.push(difference);
    return found.length < most;
  });
  return found;
}

function compare(a: unknown, b: unknown, path: string, report: (difference: Difference) => boolean): boolean {
  if (Object.is(a, b)) return true;
  if (!isContainer(a) || !isContainer(b) || Array.isArray(a) !== Array.isArray(b))
    return report({ path, a, b });
  const left: Readonly<Record<string, unknown>> = { ...a };
  const right: Readonly<Record<string, unknown>> = { ...b };
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const at = Array.isArray(a) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
    if (!compare(own(left, key), own(right, key), at, report)) return false;
  }
  return true;
}

const own = (record: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(record, key) ? record[key] : undefined;

const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null;
