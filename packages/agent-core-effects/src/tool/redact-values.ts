/** The minimum length of values that are found without quotes around them: a shorter one may be part of any word. */
const shortestKnown = 4;

/** The number of characters at the beginning of a value that reveal it. */
const revealingLength = 8;

/** The maximum number of values that are searched for in one message. */
const mostValues = 1_000;

/**
 * Removes values from the message of a schema library: some libraries quote the refused value, which may be a secret. A
 * message that still contains the beginning of a value, such as a truncated or escaped one, is replaced as a whole.
 */
export function redactValues(message: string, value: unknown): string {
  let shown = message;
  const values = leavesOf(value);
  for (const text of values) {
    shown = shown.replaceAll(JSON.stringify(text), "(hidden)").replaceAll(`"${text}"`, "(hidden)");
    if (text.length >= shortestKnown) shown = shown.replaceAll(text, "(hidden)");
  }
  const shows = values.some(
    (text) => text.length > revealingLength && shown.includes(text.slice(0, revealingLength)),
  );
  return shows ? "This value does not fit." : shown;
}

/** The texts and numbers in a value, the longest first. */
function leavesOf(value: unknown): readonly string[] {
  const leaves = new Set<string>();
  const open: unknown[] = [value];
  while (open.length > 0 && leaves.size < mostValues) {
    const next = open.pop();
    if (typeof next === "string" && next.trim() !== "") leaves.add(next);
    else if (typeof next === "number") leaves.add(String(next));
    // One by one: a single push with very many arguments would overflow the stack.
    else if (typeof next === "object" && next !== null)
      for (const part of Object.values(next)) open.push(part);
  }
  return [...leaves].toSorted((a, b) => b.length - a.length);
}

/** The value at a path of a value; the value itself for a path that does not exist. */
export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return value;
    at = Reflect.get(at, key);
  }
  return at;
}
