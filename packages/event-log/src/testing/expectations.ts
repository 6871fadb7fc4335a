import { LogError, type LogErrorCode } from "../log-error.ts";

/** The error of a conformance case that fails. */
export class UnmetExpectation extends Error {
  override readonly name = "UnmetExpectation";
}

/** Throws an `UnmetExpectation` with the sentence unless the condition is true. */
export function check(isTrue: boolean, sentence: string): asserts isTrue {
  if (!isTrue) throw new UnmetExpectation(sentence);
}

/** Throws an `UnmetExpectation` unless two plain values are equal; ignores the order of members. */
export function checkEqual(actual: unknown, expected: unknown, sentence: string): void {
  const [found, wanted] = [textOf(actual), textOf(expected)];
  if (found === wanted) return;
  throw new UnmetExpectation(`${sentence}: expected ${truncated(wanted)}, found ${truncated(found)}`);
}

/** Expects an action to throw or reject with a `LogError` of this code. Returns the error. */
export async function checkRejected(
  code: LogErrorCode,
  sentence: string,
  action: () => unknown,
): Promise<LogError> {
  const [outcome] = await Promise.allSettled([(async () => action())()]);
  if (outcome.status === "fulfilled")
    throw new UnmetExpectation(`${sentence}: expected ${code}, but there was no error`);

  const error: unknown = outcome.reason;
  if (error instanceof LogError && error.code === code) return error;
  throw new UnmetExpectation(`${sentence}: expected ${code}, found ${String(error)}`, { cause: error });
}

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_key, member: unknown) =>
    isPlainObject(member) ? Object.fromEntries(Object.entries(member).toSorted(byKey)) : member,
  ) ?? "undefined";

const isPlainObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const byKey = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1;

const truncated = (text: string): string =>
  text.length <= 300 ? text : `${text.slice(0, 300)}... (${text.length} characters)`;
