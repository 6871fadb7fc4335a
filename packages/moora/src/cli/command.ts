import type { CliHost, ExitCode } from "./cli-host.ts";
import type { GivenOptions, OptionName } from "./options.ts";

/** One row of the table of commands. */
export interface Command {
  readonly name: string;
  /** What follows the name: `<task>`. */
  readonly usage: string;
  readonly summary: string;
  readonly options: readonly OptionName[];
  /** Throws `UsageError` for words and values that make no sense. */
  readonly run: (call: CommandCall, host: CliHost) => Promise<ExitCode>;
}

/** What was said after the name of a command. */
export interface CommandCall {
  readonly words: readonly string[];
  readonly options: GivenOptions;
}

/** Options of every command that lets an agent work. */
export const agentOptions: readonly OptionName[] = [
  "provider",
  "model",
  "base-url",
  "system",
  "root",
  "allow-fetch",
  "tools",
  "approve",
  "max-steps",
  "max-tokens",
  "session",
  "log",
  "as",
  "trace",
  "json",
  "help",
];

/** Options of every command that looks at sessions. */
export const sessionOptions: readonly OptionName[] = ["log", "json", "help"];
