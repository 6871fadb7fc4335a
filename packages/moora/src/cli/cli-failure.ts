import { AgentError, InputRefused, SessionError } from "@moora/agent";
import { LogError } from "@moora/event-log";
import { exitCodes, type ExitCode } from "./cli-host.ts";

/** A command that cannot be done: a sentence for people, and a number for the shell. */
export class CliFailure extends Error {
  override readonly name = "CliFailure";
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** What the shell is told of each way in which a session or its log says no. Any other way is a failure. */
const exitCodeOf: Readonly<Record<string, ExitCode>> = {
  SessionUnknown: exitCodes.missing,
  SessionBusy: exitCodes.busy,
  StaleWriter: exitCodes.busy,
  LogBusy: exitCodes.busy,
  LogExists: exitCodes.refused,
  LogRemoved: exitCodes.missing,
  InvalidId: exitCodes.usage,
  LogCorrupt: exitCodes.unreadable,
  LogWrite: exitCodes.unreadable,
  UnsupportedVersion: exitCodes.unreadable,
};

/** What is said where the message itself does not say enough, or not to the one who sits at a terminal. */
const words: Readonly<Record<string, (message: string) => string>> = {
  LogBusy: (message) => `Another process is writing. Try again. ${message}`,
  LogCorrupt: (message) => `The log is damaged: ${message}`,
  LogExists: () => "There is a session of this name already. Name another one with --to.",
  LogRemoved: () => "The session has been removed.",
  LogWrite: (message) => `The log cannot be read or written: ${message}`,
  UnsupportedVersion: (message) => `A newer release wrote this. ${message}`,
};

const sentenceOf = (code: string, message: string): string =>
  Object.hasOwn(words, code) ? (words[code]?.(message) ?? message) : message;

/** The failure that an error of a session or of its log is; undefined for a bug. */
export function errorToFailure(error: unknown): CliFailure | undefined {
  if (error instanceof CliFailure) return error;
  if (error instanceof SessionError || error instanceof LogError)
    return new CliFailure(exitCodeOf[error.code] ?? exitCodes.failed, sentenceOf(error.code, error.message));
  if (error instanceof InputRefused)
    return new CliFailure(exitCodes.refused, `That does not fit: ${error.message}`);
  if (error instanceof AgentError) return new CliFailure(exitCodes.failed, error.message);
  return undefined;
}
