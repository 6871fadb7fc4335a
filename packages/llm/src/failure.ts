import { cappedText, redacted } from "./capped-text.ts";
import type { LlmFailure, LlmFailureKind, LlmOutcome, LlmUsage } from "./outcome.ts";

/** Whether the same request may succeed later, where nobody knows better. */
const mayPass: Readonly<Record<LlmFailureKind, boolean>> = {
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

export type Fail = (
  kind: LlmFailureKind,
  message: string,
  known?: Partial<Omit<LlmFailure, "kind" | "message">>,
) => LlmFailure;

/** A failure with its message capped at 2 KB; `retryable` follows from the kind unless it is given. */
export const failureOf: Fail = (kind, message, known = {}) => ({
  kind,
  message: cappedText(message.toWellFormed()),
  retryable: mayPass[kind],
  ...known,
});

/** The same, with the secrets taken out before anything is cut: half a key is still half a key. */
export const failing =
  (secrets: readonly string[]): Fail =>
  (kind, message, known = {}) => {
    const { raw, ...rest } = known;
    return failureOf(kind, redacted(message, secrets), {
      ...rest,
      ...(raw !== undefined && { raw: cappedText(redacted(raw, secrets)) }),
    });
  };

/** The outcome of a call that failed. `partial` is the text that had been streamed. */
export const failed = (failure: LlmFailure, partial: string = "", usage?: LlmUsage): LlmOutcome => ({
  ok: false,
  failure,
  partial: partial.toWellFormed(),
  ...(usage && { usage }),
});

/** The outcome with one more warning; a failure has no place for it and stays as it is. */
export const warned = (outcome: LlmOutcome, ...warnings: readonly string[]): LlmOutcome =>
  outcome.ok && warnings.length > 0
    ? { ...outcome, warnings: [...(outcome.warnings ?? []), ...warnings] }
    : outcome;
