import type { CommitResult } from "./definition.ts";

export const isPromise = <Value>(value: Value | Promise<Value>): value is Promise<Value> =>
  typeof value === "object" && value !== null && "then" in value;

/** The result of `commit` for a number of steps. Throws for a value of another form, which code without types may return. */
export function checkedResult<Input, Position>(
  result: CommitResult<Input, Position>,
  steps: number,
): CommitResult<Input, Position> {
  if (result === undefined) return undefined;
  const { before, positions }: { readonly before?: unknown; readonly positions?: unknown } = result ?? {};
  const isValid = Array.isArray(before)
    ? before.every((entry) => typeof entry === "object" && entry !== null && "input" in entry)
    : Array.isArray(positions) && positions.length === steps;
  if (isValid) return result;
  const found: unknown = before === undefined ? (positions === undefined ? result : positions) : before;
  throw new TypeError(
    `commit must return { positions } of ${steps} steps, { before } or undefined, got ${String(found)}.`,
  );
}
