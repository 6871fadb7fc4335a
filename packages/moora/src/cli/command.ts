import type { CliHost, ExitCode } from "./cli-host.ts";
import type { GivenOptions, OptionName } from "./options.ts";

/** One row of the table of commands. */
export interface Command {
  readonly name: string;
  /** What follows the name: `<task>`. */
  readonly usage: string;
  readonly summary: string;
  readonly options: readonly OptionName[];
  /** Throws `UsageError` for invalid arguments and values. */
  readonly run: (call: CommandCall, host: CliHost) => Promise<ExitCode>;
}

/** What follows the name of a command: its arguments and options. */
export interface CommandCall {
  readonly args: readonly string[];
  readonly options: GivenOptions;
}

/** Options of every command that runs an agent. */
export const agentOptions: readonly OptionName[] = [
  "provider",
  "model",
  "base-url",
  "timeout",
  "system",
  "root",
  "allow-fetch",
  "tools",
  "approve",
  "approve-from-stdin",
  "max-steps",
  "max-tokens",
  "session",
  "log",
  "as",
  "trace",
  "json",
  "help",
];

/** Options of every command about sessions. */
export const sessionOptions: readonly OptionName[] = ["log", "json", "help"];
