import { redactor, truncatedToBytes } from "./failure-text.ts";
import type { LlmFailure, LlmFailureKind, LlmOutcome, LlmUsage } from "./outcome.ts";

/** Whether the same request may succeed later, unless the failure has its own `retryable`. */
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

/** Creates a failure. `details` override what follows from the kind. */
export type FailureOf = (
  kind: LlmFailureKind,
  message: string,
  details?: Partial<Omit<LlmFailure, "kind" | "message">>,
) => LlmFailure;

/** Creates a failure. The message is truncated to 2 KB; `retryable` follows from the kind unless `details` has it. */
export const failureOf: FailureOf = (kind, message, details = {}) => ({
  kind,
  message: truncatedToBytes(message.toWellFormed()),
  retryable: retryableByDefault[kind],
  ...details,
});

/** Returns a `failureOf` that redacts secrets in `message` and `raw`, before it truncates them. */
export const redactedFailureOf =
  (secrets: readonly string[]): FailureOf =>
  (kind, message, details = {}) => {
    const { raw, ...rest } = details;
    const redact = redactor(secrets);
    return failureOf(kind, redact(message), {
      ...rest,
      ...(raw !== undefined && { raw: truncatedToBytes(redact(raw)) }),
    });
  };

/** The outcome of a failed call. `partial` is the text that was streamed before the failure. */
export const failedOutcome = (failure: LlmFailure, partial: string = "", usage?: LlmUsage): LlmOutcome => ({
  ok: false,
  failure,
  partial: partial.toWellFormed(),
  ...(usage && { usage }),
});

/** Adds warnings to a successful outcome. A failure has no warnings and is returned unchanged. */
export const withWarnings = (outcome: LlmOutcome, ...warnings: readonly string[]): LlmOutcome =>
  outcome.ok && warnings.length > 0
    ? { ...outcome, warnings: [...(outcome.warnings ?? []), ...warnings] }
    : outcome;
