import { SessionError, type ErrorListener } from "@moora/agent";
import { LogError } from "@moora/event-log";

/** The code of an error, or its name for one without a code. */
export function codeOf(error: unknown): string {
  if (error instanceof SessionError || error instanceof LogError) return error.code;
  return error instanceof Error ? error.name : String(error);
}

/** An `onError` that prints all errors but those of these codes, which a test is about. */
export const printErrorsBut =
  (...codes: readonly string[]): ErrorListener =>
  ({ error }) => {
    if (!codes.includes(codeOf(error))) console.error(error);
  };

/** The errors of sessions that no caller waits for, by their codes. */
export class HeardErrors {
  readonly codes: string[] = [];
  readonly onError: ErrorListener = ({ error }) => void this.codes.push(codeOf(error));
}
