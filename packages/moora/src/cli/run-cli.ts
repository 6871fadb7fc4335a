import manifest from "../../package.json" with { type: "json" };
import { exitCodes, type CliHost, type ExitCode } from "./cli-host.ts";
import type { Command } from "./command.ts";
import { commands } from "./commands.ts";
import { commandHelp, overview } from "./help.ts";
import { nearest } from "./nearest.ts";
import { parseCommandLine, type CommandLine } from "./parse-command-line.ts";
import { visible } from "./screen.ts";
import { UsageError } from "./usage-error.ts";

/** The whole command line: reads the arguments, runs the command, and says with its number how it went. */
export async function runCli(args: readonly string[], host: CliHost): Promise<ExitCode> {
  try {
    return await dispatched(parseCommandLine(args), host);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    host.stderr.write(visible(`moora: ${error.message} ${error.hint}\n`));
    return exitCodes.usage;
  }
}

async function dispatched({ words, options }: CommandLine, host: CliHost): Promise<ExitCode> {
  const [name, ...rest] = words;
  if (options.has("version")) return shown(host, manifest.version);
  if (name === undefined) {
    if (options.has("help")) return shown(host, overview(commands));
    throw new UsageError(
      "Which command?",
      `There are ${commands.map((command) => command.name).join(" and ")}; see moora help.`,
    );
  }
  if (name === "help")
    return shown(host, rest[0] === undefined ? overview(commands) : commandHelp(commandNamed(rest[0])));
  const command = commandNamed(name);
  if (options.has("help")) return shown(host, commandHelp(command));
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
