import type { CliHost, ExitCode } from "./cli-host.ts";
import type { GivenOptions, OptionName } from "./options.ts";

/** A command of the command line. */
export interface Command {
  readonly name: string;
  /** The arguments, such as `<task>`. */
  readonly usage: string;
  readonly summary: string;
  readonly options: readonly OptionName[];
  /** The help of options that mean something else than in other commands. */
  readonly optionHelp?: Readonly<Partial<Record<OptionName, string>>>;
  /** Throws `UsageError` for invalid arguments and values. */
  readonly run: (call: CommandCall, host: CliHost) => Promise<ExitCode>;
}

/** The arguments and options of a command. */
export interface CommandCall {
  readonly args: readonly string[];
  readonly options: GivenOptions;
}

/** Options of every command that runs an agent. */
export const agentOptions: readonly OptionName[] = [
  "agent",
  "provider",
  "model",
  "base-url",
  "timeout",
  "system",
  "root",
  "exclude",
  "allow-fetch",
  "tools",
  "mcp",
  "mcp-config",
  "approve",
  "approve-from-stdin",
  "max-steps",
  "max-tokens",
  "session",
  "log",
  "as",
  "trace",
  "verbose",
  "json",
  "help",
];

/** Options of every command about sessions. */
export const sessionOptions: readonly OptionName[] = ["log", "json", "help"];
