import { failedOutcome, failureOf } from "./failure.ts";
import { isJsonObject } from "./json.ts";
import type { LlmOutcome } from "./outcome.ts";

/**
 * Validates the outcome of a caller, which may be code of an application without types. An invalid value becomes a failure
 * of kind `malformed` that contains the caller's name and is not retryable.
 */
export function readOutcome(returned: unknown, callerName: string): LlmOutcome {
  if (isOutcome(returned)) return returned;
  const what =
    returned === null ? "null" : Array.isArray(returned) ? "an array" : `a value of type ${typeof returned}`;
  const kind = isJsonObject(returned) ? "an object without its fields" : what;
  const message = `The caller ${callerName} must return an LlmOutcome, got ${kind}.`;
  return failedOutcome(failureOf("malformed", message, { retryable: false }));
}

function isOutcome(value: unknown): value is LlmOutcome {
  if (!isJsonObject(value)) return false;
  const { ok, turn, usage, finish, failure } = value;
  if (ok === false) {
    return (
      isJsonObject(failure) && typeof failure["kind"] === "string" && typeof failure["message"] === "string"
    );
  }
  const isTurn = isJsonObject(turn) && Array.isArray(turn["parts"]);
  return ok === true && isTurn && isJsonObject(usage) && isJsonObject(finish);
}
