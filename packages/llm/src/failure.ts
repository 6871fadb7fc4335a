import { truncatedToBytes, redactSecrets } from "./failure-text.ts";
import type { LlmFailure, LlmFailureKind, LlmOutcome, LlmUsage } from "./outcome.ts";

/** Whether the same request may succeed later, where nobody knows better. */
const retryableByDefault: Readonly<Record<LlmFailureKind, boolean>> = {
  auth: false,
  billing: false,
  "rate-limit": true,
  overloaded: true,
  server: true,
  timeout: true,
  connection: true,
  interrupted: true,
  aborted: false,
  "invalid-request": false,
  "context-length": false,
  refusal: false,
  "content-filter": false,
  empty: true,
  malformed: true,
  unknown: false,
};

export type FailureOf = (
  kind: LlmFailureKind,
  message: string,
  details?: Partial<Omit<LlmFailure, "kind" | "message">>,
) => LlmFailure;

/** A failure with its message capped at 2 KB; `retryable` follows from the kind unless it is given. */
export const failureOf: FailureOf = (kind, message, details = {}) => ({
  kind,
  message: truncatedToBytes(message.toWellFormed()),
  retryable: retryableByDefault[kind],
  ...details,
});

/** The same, with the secrets taken out before anything is cut: half a key is still half a key. */
export const redactedFailureOf =
  (secrets: readonly string[]): FailureOf =>
  (kind, message, details = {}) => {
    const { raw, ...rest } = details;
    return failureOf(kind, redactSecrets(message, secrets), {
      ...rest,
      ...(raw !== undefined && { raw: truncatedToBytes(redactSecrets(raw, secrets)) }),
    });
  };

/** The outcome of a call that failed. `partial` is the text that had been streamed. */
export const failedOutcome = (failure: LlmFailure, partial: string = "", usage?: LlmUsage): LlmOutcome => ({
  ok: false,
  failure,
  partial: partial.toWellFormed(),
  ...(usage && { usage }),
});

/** The outcome with one more warning; a failure has no place for it and stays as it is. */
export const withWarnings = (outcome: LlmOutcome, ...warnings: readonly string[]): LlmOutcome =>
  outcome.ok && warnings.length > 0
    ? { ...outcome, warnings: [...(outcome.warnings ?? []), ...warnings] }
    : outcome;
