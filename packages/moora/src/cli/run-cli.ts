import { didYouMean } from "@moora/agent-core-effects/internal";
import { excludeFromFileTools } from "@moora/tools";
import manifest from "../../package.json" with { type: "json" };
import { errorToFailure, usageError } from "./cli-failure.ts";
import { exitCodes, type CliHost, type ExitCode } from "./cli-host.ts";
import type { Command, CommandCall } from "./command.ts";
import { commands } from "./commands.ts";
import { commandHelp, overview } from "./help.ts";
import { parseCommandLine, type CommandLine } from "./parse-command-line.ts";
import { Screen } from "./terminal/screen.ts";
import { secretPaths } from "./secret-paths.ts";
import { environmentSecrets } from "./secrets.ts";

/** The whole command line: parses the arguments, runs the command, and returns the exit code. */
export async function runCli(args: readonly string[], host: CliHost): Promise<ExitCode> {
  try {
    const optionsOf = (name: string): Command["options"] | undefined =>
      commands.find((command) => command.name === name)?.options;
    return await dispatch(parseCommandLine(args, optionsOf), host);
  } catch (error) {
    const failure = errorToFailure(error);
    if (failure === undefined) throw error;
    new Screen(host, environmentSecrets(host.env)).line(`moora: ${failure.message}`);
    return failure.exitCode;
  }
}

async function dispatch({ args, options }: CommandLine, host: CliHost): Promise<ExitCode> {
  const [name, ...rest] = args;
  if (options.version === true) return print(host, manifest.version);
  if (name === undefined) {
    if (options.help === true || Object.keys(options).length === 0) return print(host, overview(commands));
    throw usageError("Missing command.", "Run: moora help");
  }
  const [asked] = rest;
  if (name === "help")
    return print(host, asked === undefined ? overview(commands) : await commandHelp(commandNamed(asked)));
  const command = commandNamed(name);
  if (options.help === true) return print(host, await commandHelp(command));
  return await runWithoutSecrets(command, { args: rest, options }, host);
}

/** Runs a command. Until it ends, no file tool can read its log or secrets, including tools from user modules. */
async function runWithoutSecrets(command: Command, call: CommandCall, host: CliHost): Promise<ExitCode> {
  if (!command.options.includes("log")) return await command.run(call, host);
  const stopExcluding = excludeFromFileTools(secretPaths(call.options, host));
  try {
    return await command.run(call, host);
  } finally {
    stopExcluding();
  }
}

function commandNamed(name: string): Command {
  const found = commands.find((command) => command.name === name);
  if (found !== undefined) return found;
  const meant = didYouMean(name, [...commands.map((command) => command.name), "help"]).trim();
  throw usageError(`Unknown command "${name}".`, meant || `To run a task: moora run "${name} ..."`);
}

function print(host: CliHost, text: string): ExitCode {
  host.stdout.write(`${text}\n`);
  return exitCodes.answered;
}
