import { readHeader, SessionError, stateAt, type Position } from "@moora/agent";
import { LogError, type EventLog } from "@moora/event-log";
import { CliFailure, usageError } from "../cli-failure.ts";
import { exitCodes, type CliHost, type ExitCode } from "../cli-host.ts";
import { agentName } from "../options-to-agent.ts";
import { sessionOptions, type Command } from "../command.ts";
import type { Options, OptionName } from "../options.ts";
import { Screen } from "../terminal/screen.ts";
import { environmentSecrets, urlPasswords } from "../secrets.ts";
import { withCopyLostHint } from "./closed-session.ts";
import { CommandHints } from "./command-hints.ts";
import { openLog, parseLogTarget, type LogTarget } from "./log-target.ts";

/** An open log, and the output of the command that uses it. */
export interface OpenLog {
  readonly log: EventLog;
  readonly target: LogTarget;
  readonly screen: Screen;
}

/** One call of a command about sessions. */
export interface SessionCall extends OpenLog {
  readonly args: readonly string[];
  readonly options: Options;
  readonly host: CliHost;
  readonly hints: CommandHints;
  /** The session: the first argument. */
  readonly id: string;
  /** Prints a result: text for people, or an object as a line of JSON for programs. */
  print(json: object, text: string): void;
}

interface SessionCommand extends Pick<Command, "name" | "usage" | "summary" | "optionHelp"> {
  /** Beside those of every such command. */
  readonly options?: readonly OptionName[];
  /** Whether a log that does not exist is created. */
  readonly creates?: boolean;
  readonly run: (call: SessionCall) => Promise<ExitCode>;
}

/** Creates a command about sessions. Its usage determines the number of arguments. */
export const sessionCommand = ({
  options = [],
  optionHelp = {},
  creates = false,
  run,
  ...row
}: SessionCommand): Command => ({
  ...row,
  options: [...options, ...sessionOptions],
  optionHelp: { json: "Print the result as one JSON object.", ...optionHelp },
  async run({ args, options: given }, host) {
    checkArguments(row, args);
    const [id = ""] = args;
    return await withLog(given, host, creates, async (at) => {
      const { target, screen } = at;
      const hints = new CommandHints({ options: given, target });
      const print: SessionCall["print"] = (json, text) =>
        given.json === true ? screen.json(json) : screen.result(`${text}\n`);
      try {
        return await run({ ...at, args, options: given, host, hints, id, print });
      } catch (error) {
        if (error instanceof SessionError && error.code === "SessionUnknown")
          throw unknownSessionError(id, { target, hints });
        if (error instanceof LogError && error.code === "LogExists" && options.includes("to"))
          throw nameTakenError();
        throw await withCopyLostHint(error, { log: at.log, id, hints, options: given, host }, "archive");
      }
    });
  },
});

/** The log target that the options and the environment name. */
export const logTargetOf = (options: Options, { env, cwd }: Pick<CliHost, "env" | "cwd">): LogTarget =>
  parseLogTarget(options.log ?? (env["MOORA_LOG"]?.trim() || undefined), cwd);

/** The secrets in a log target. */
export const logSecrets = (target: LogTarget): readonly string[] =>
  target.type === "postgres" ? urlPasswords(target.url) : [];

/** Opens the log that the options name, runs `work`, and closes the log. */
export async function withLog<Result>(
  options: Options,
  host: CliHost,
  creates: boolean,
  work: (at: OpenLog) => Promise<Result>,
): Promise<Result> {
  const target = logTargetOf(options, host);
  const screen = new Screen(host, [...environmentSecrets(host.env), ...logSecrets(target)]);
  const log = await openLog(target, screen, creates);
  try {
    return await work({ log, target, screen });
  } finally {
    await log.close();
  }
}

export const unknownSessionError = (
  id: string,
  { target, hints }: Pick<SessionCall, "target" | "hints">,
): CliFailure =>
  new CliFailure(
    exitCodes.missing,
    `Session "${id}" not found in ${target.shown}. To list the sessions: ${hints.command("sessions")}`,
  );

const nameTakenError = (): CliFailure =>
  new CliFailure(exitCodes.refused, "A session of this name exists already. Choose another name with --to.");

function checkArguments({ name, usage }: Pick<Command, "name" | "usage">, args: readonly string[]): void {
  const slots = usage.split(" ").filter((slot) => slot !== "");
  const missing = slots.find((slot, index) => slot.startsWith("<") && args[index] === undefined);
  const hint = `Usage: moora ${name} ${usage}`.trimEnd();
  if (missing !== undefined)
    throw usageError(`Missing ${missing.replace("...>", ">")} for "moora ${name}".`, hint);
  if (args.length > slots.length && !usage.includes("..."))
    throw usageError(`Too many arguments for "moora ${name}".`, hint);
}

/** The state at a record; default: at the last one. Throws `CliFailure` for a record that the session does not have. */
export async function stateAtRecord(
  { log, id }: Pick<SessionCall, "log" | "id">,
  position: number | undefined,
): Promise<Position> {
  try {
    return await stateAt(log, id, position);
  } catch (error) {
    if (error instanceof SessionError && error.code === "InvalidOption")
      checkPosition(id, position, error.seq ?? 0);
    throw error;
  }
}

/** Throws `CliFailure` for a record that the session does not have. `last`: the last one that it has. */
export function checkPosition(id: string, position: number | undefined, last: number): void {
  if (position === undefined || position <= last) return;
  throw new CliFailure(
    exitCodes.missing,
    `Session "${id}" has no record ${position}. ${last === 0 ? "It has none." : `The last one is ${last}.`}`,
  );
}

/** The command that resumes the session; for an agent of another program, with its module. */
export async function resumeCommand({ log, id, hints }: SessionCall): Promise<string> {
  const { agent } = await readHeader(log, id);
  if (agent.name !== agentName)
    return `${hints.command("run", "--session", id, "--agent", "FILE")}, with the module of the agent "${agent.name}"`;
  return hints.runCommand("run", "--session", id);
}
