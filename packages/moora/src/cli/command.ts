import type { CliHost, ExitCode } from "./cli-host.ts";
import type { Options, OptionName } from "./options.ts";

/** A command of the command line. */
export interface Command {
  readonly name: string;
  /** The arguments, such as `<task>`. */
  readonly usage: string;
  readonly summary: string;
  readonly options: readonly OptionName[];
  /** The help of options that mean something else than in other commands. */
  readonly optionHelp?: Readonly<Partial<Record<OptionName, string>>>;
  /** Throws `CliFailure` for invalid arguments and values. */
  readonly run: (call: CommandCall, host: CliHost) => Promise<ExitCode>;
}

/** The arguments and options of a command. */
export interface CommandCall {
  readonly args: readonly string[];
  readonly options: Options;
}

/** The options that describe the agent of the command line. `--agent` replaces them. */
export const describingOptions = [
  "provider",
  "model",
  "base-url",
  "timeout",
  "system",
  "root",
  "allow-fetch",
  "tools",
  "approve",
  "max-steps",
  "max-tokens",
] as const;

/** Options of every command that runs an agent. */
export const agentOptions: readonly OptionName[] = [
  "agent",
  ...describingOptions,
  "exclude",
  "mcp",
  "mcp-config",
  "approve-from-stdin",
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
