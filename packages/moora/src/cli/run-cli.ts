import { nearest } from "@moora/agent-core-effects";
import manifest from "../../package.json" with { type: "json" };
import { errorToFailure } from "./cli-failure.ts";
import { exitCodes, type CliHost, type ExitCode } from "./cli-host.ts";
import type { Command } from "./command.ts";
import { commands } from "./commands.ts";
import { commandHelp, overview } from "./help.ts";
import { parseCommandLine, type CommandLine } from "./parse-command-line.ts";
import { visible } from "./screen.ts";
import { UsageError } from "./usage-error.ts";

/** The whole command line: reads the arguments, runs the command, and says with its number how it went. */
export async function runCli(args: readonly string[], host: CliHost): Promise<ExitCode> {
  try {
    return await dispatched(parseCommandLine(args), host);
  } catch (error) {
    const [exitCode, words] =
      error instanceof UsageError ? [exitCodes.usage, `${error.message} ${error.hint}`] : failureOf(error);
    host.stderr.write(visible(`moora: ${words}\n`));
    return exitCode;
  }
}

function failureOf(error: unknown): readonly [ExitCode, string] {
  const failure = errorToFailure(error);
  if (failure === undefined) throw error;
  return [failure.exitCode, failure.message];
}

async function dispatched({ words, options }: CommandLine, host: CliHost): Promise<ExitCode> {
  const [name, ...rest] = words;
  if (options.has("version")) return shown(host, manifest.version);
  if (name === undefined) {
    if (options.has("help")) return shown(host, overview(commands));
    throw new UsageError(
      "Which command?",
      `There are ${commands.map((command) => command.name).join(", ")}; see moora help.`,
    );
  }
  if (name === "help")
    return shown(host, rest[0] === undefined ? overview(commands) : await commandHelp(commandNamed(rest[0])));
  const command = commandNamed(name);
  if (options.has("help")) return shown(host, await commandHelp(command));
  const foreign = options.names.find((option) => !command.options.includes(option));
  if (foreign !== undefined) throw new UsageError(`${command.name} has no option --${foreign}.`);
  return await command.run({ words: rest, options }, host);
}

function commandNamed(name: string): Command {
  const found = commands.find((command) => command.name === name);
  if (found !== undefined) return found;
  const meant = nearest(name, [...commands.map((command) => command.name), "help"]);
  throw new UsageError(
    `There is no command ${name}.`,
    meant === undefined ? `For a task say moora run "${name} ...".` : `Did you mean ${meant}?`,
  );
}

function shown(host: CliHost, text: string): ExitCode {
  host.stdout.write(`${text}\n`);
  return exitCodes.answered;
}
