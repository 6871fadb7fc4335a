/** Freezes a value with everything in it, without recursion, and returns it. Skips values that are already frozen. */
export function deepFreeze<T>(value: T): T {
  const open: unknown[] = [value];
  for (let next = open.pop(); open.length > 0 || next !== undefined; next = open.pop()) {
    if (typeof next !== "object" || next === null || Object.isFrozen(next)) continue;
    Object.freeze(next);
    open.push(...Object.values(next));
  }
  return value;
}
