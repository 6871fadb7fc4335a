import { redactor } from "../failure-text.ts";

/** Keys of well-known providers, and credentials of HTTP. */
const knownSecrets =
  /\b(?:sk|rk|pk|gsk|xai|hf|ghp|gho)[-_][A-Za-z0-9_-]{16,}|\bAIza[A-Za-z0-9_-]{30,}|\bAKIA[A-Z0-9]{16}\b|(?<=\b(?:Bearer|Basic) )[A-Za-z0-9+/._~-]{8,}=*/g;

/** Copies a value of JSON with every secret in its texts replaced by `[secret]`: the given ones, and those of known formats. */
export function redactJson<Value>(value: Value, secrets: readonly string[]): Value {
  const redact = redactor(secrets);
  // The value keeps its shape: only the characters of its strings may change.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return mapTexts(value, (text) => redact(text).replaceAll(knownSecrets, "[secret]")) as Value;
}

/**
 * A copy of a value of JSON with each of its texts changed. An error stays the same object: its fields and its causes are changed in
 * place. Other objects are not looked into. `done` has the copies of what was met before, since causes may be circular.
 */
export function mapTexts(
  value: unknown,
  change: (text: string) => string,
  done: Map<unknown, unknown> = new Map(),
): unknown {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || done.has(value)) return done.get(value) ?? value;
  done.set(value, value);
  const copy = copyOf(value, (item) => mapTexts(item, change, done));
  done.set(value, copy);
  return copy;
}

function copyOf(value: object | null, change: (item: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(change);
  if (value instanceof Error) {
    for (const name of Object.getOwnPropertyNames(value))
      Reflect.set(value, name, change(Reflect.get(value, name)));
    return value;
  }
  if (value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, change(field)]));
}
