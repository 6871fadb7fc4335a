/** Values of fewer characters are only known by the quotes around them: they may be part of any word. */
const shortestKnown = 4;

/** Characters of a longer value that distinguish it from any other text. */
const revealingLength = 8;

/** Values that are looked for in one message, at most. */
const mostValues = 1_000;

/**
 * What a schema library says of a value, without the value: some of them quote what they refuse, and it may be a secret.
 * A message that still shows the beginning of one, cut or escaped in a way of its own, is not shown at all.
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
    // One by one: a call with very many arguments would overflow the stack.
    else if (typeof next === "object" && next !== null)
      for (const part of Object.values(next)) open.push(part);
  }
  return [...leaves].toSorted((a, b) => b.length - a.length);
}

/** What stands at a path of a value; the value itself where the path leads nowhere. */
export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return value;
    at = Reflect.get(at, key);
  }
  return at;
}
