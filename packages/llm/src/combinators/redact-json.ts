import { redactSecrets } from "../failure-text.ts";

/** Keys of well-known providers, and credentials of HTTP. */
const knownSecrets =
  /\b(?:sk|rk|pk|gsk|xai|hf|ghp|gho)[-_][A-Za-z0-9_-]{16,}|\bAIza[A-Za-z0-9_-]{30,}|\bAKIA[A-Z0-9]{16}\b|(?<=\b(?:Bearer|Basic) )[A-Za-z0-9+/._~-]{8,}=*/g;

/** Copies a value of JSON with every secret in its texts replaced by `[secret]`: the given ones, and those of known formats. */
export const redactJson = <Value>(value: Value, secrets: readonly string[]): Value =>
  // The value keeps its shape: only the characters of its strings may change.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  redact(value, secrets) as Value;

function redact(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === "string") return redactSecrets(value, secrets).replaceAll(knownSecrets, "[secret]");
  if (Array.isArray(value)) return value.map((item) => redact(item, secrets));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, redact(field, secrets)]));
}
