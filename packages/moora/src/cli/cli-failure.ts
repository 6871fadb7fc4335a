import { AgentError, InputRefused, SessionError } from "@moora/agent";
import { LogError } from "@moora/event-log";
import { exitCodes, type ExitCode } from "./cli-host.ts";

/** A command that fails: a message for people, and the exit code. */
export class CliFailure extends Error {
  override readonly name = "CliFailure";
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The failure of an invalid command line, or of an environment that it cannot work in. `hint` is what to do. */
export const usageError = (message: string, hint: string = "Run: moora help"): CliFailure =>
  new CliFailure(exitCodes.usage, `${message} ${hint}`.trimEnd());

/** The exit code of each error of a session or its log. Any other is a failure. */
const exitCodeOf: Readonly<Record<string, ExitCode>> = {
  SessionUnknown: exitCodes.missing,
  SessionBusy: exitCodes.busy,
  RunByEngine: exitCodes.refused,
  StaleWriter: exitCodes.busy,
  MoveUnfinished: exitCodes.refused,
  SessionIncomplete: exitCodes.refused,
  CallOpen: exitCodes.refused,
  LogBusy: exitCodes.busy,
  LogExists: exitCodes.refused,
  LogRemoved: exitCodes.missing,
  InvalidId: exitCodes.usage,
  LogCorrupt: exitCodes.unreadable,
  LogWrite: exitCodes.unreadable,
  UnsupportedVersion: exitCodes.unreadable,
};

/** Messages for people, where the one of the error is for programs. */
const messages: Readonly<Record<string, (message: string) => string>> = {
  LogBusy: (message) => `Another process is writing. Try again. ${message}`,
  LogCorrupt: (message) =>
    message.startsWith("The log is damaged") ? message : `The log is damaged: ${message}`,
  LogRemoved: () => "The session was removed.",
  LogWrite: (message) => `The log cannot be read or written: ${message}`,
  UnsupportedVersion: (message) => `A newer release wrote this log. ${message}`,
};

const messageFor = (code: string, message: string): string =>
  Object.hasOwn(messages, code) ? (messages[code]?.(message) ?? message) : message;

/** The failure that corresponds to an error of a session or its log. Undefined for a bug. */
export function errorToFailure(error: unknown): CliFailure | undefined {
  if (error instanceof CliFailure) return error;
  if (error instanceof SessionError || error instanceof LogError)
    return new CliFailure(exitCodeOf[error.code] ?? exitCodes.failed, messageFor(error.code, error.message));
  if (error instanceof InputRefused) return new CliFailure(exitCodes.refused, error.message);
  if (error instanceof AgentError) return new CliFailure(exitCodes.failed, error.message);
  return undefined;
}
