import { SessionError } from "@moora/agent";
import type { EventLog } from "@moora/event-log";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes, type CliHost, type ExitCode } from "../cli-host.ts";
import { sessionOptions, type Command } from "../command.ts";
import type { GivenOptions, OptionName } from "../options.ts";
import { Screen } from "../screen.ts";
import { environmentSecrets, urlPasswords } from "../secrets.ts";
import { UsageError } from "../usage-error.ts";
import { CommandHints } from "./command-hints.ts";
import { noticeToWords, openPlace, textToPlace, type LogPlace } from "./log-place.ts";

/** An open log, and the output of the command that uses it. */
export interface OpenPlace {
  readonly log: EventLog;
  readonly place: LogPlace;
  readonly screen: Screen;
}

/** One call of a command about sessions. */
export interface SessionCall extends OpenPlace {
  readonly words: readonly string[];
  readonly options: GivenOptions;
  readonly host: CliHost;
  readonly hints: CommandHints;
  /** The session: the first argument. */
  readonly id: string;
  /** Prints a result: text for people, or an object as a line of JSON for programs. */
  print(json: object, text: string): void;
}

interface SessionCommand extends Pick<Command, "name" | "usage" | "summary"> {
  /** Beside those of every such command. */
  readonly options?: readonly OptionName[];
  /** Whether a log that does not exist is created. */
  readonly makes?: boolean;
  readonly run: (call: SessionCall) => Promise<ExitCode>;
}

/** A row of the table of commands for a command about sessions. Its usage determines how many arguments it takes. */
export const sessionCommand = ({ options = [], makes = false, run, ...row }: SessionCommand): Command => ({
  ...row,
  options: [...options, ...sessionOptions],
  async run({ words, options: given }, host) {
    checkArguments(row, words);
    const [id = ""] = words;
    return await withPlace(given, host, makes, async (at) => {
      const { place, screen } = at;
      const hints = new CommandHints({ options: given, place });
      const print: SessionCall["print"] = (json, text) =>
        given.has("json") ? screen.json(json) : screen.result(`${text}\n`);
      try {
        return await run({ ...at, words, options: given, host, hints, id, print });
      } catch (error) {
        if (error instanceof SessionError && error.code === "SessionUnknown") throw noSession(id, place);
        throw error;
      }
    });
  },
});

/** The place that the options and the environment name. */
export const placeOf = (options: GivenOptions, { env, cwd }: Pick<CliHost, "env" | "cwd">): LogPlace =>
  textToPlace(options.text("log") ?? (env["MOORA_LOG"]?.trim() || undefined), cwd);

/** What no output may show of the place of a log. */
export const placeSecrets = (place: LogPlace): readonly string[] =>
  place.type === "postgres" ? urlPasswords(place.url) : [];

/** Opens the log that the options name, for as long as `work` takes. */
export async function withPlace<Result>(
  options: GivenOptions,
  host: CliHost,
  makes: boolean,
  work: (at: OpenPlace) => Promise<Result>,
): Promise<Result> {
  const place = placeOf(options, host);
  const screen = new Screen(host, [...environmentSecrets(host.env), ...placeSecrets(place)]);
  const log = await openPlace(place, { makes, onNotice: (notice) => screen.note(noticeToWords(notice)) });
  try {
    return await work({ log, place, screen });
  } finally {
    await log.close();
  }
}

export const noSession = (id: string, { shown }: Pick<LogPlace, "shown">): CliFailure =>
  new CliFailure(
    exitCodes.missing,
    `There is no session "${id}" in ${shown}. To list the sessions: moora sessions`,
  );

function checkArguments({ name, usage }: Pick<Command, "name" | "usage">, words: readonly string[]): void {
  const slots = usage.split(" ").filter((slot) => slot !== "");
  const missing = slots.find((slot, index) => slot.startsWith("<") && words[index] === undefined);
  const hint = `Usage: moora ${name} ${usage}`.trimEnd();
  if (missing !== undefined)
    throw new UsageError(`Missing ${missing.replaceAll(/[<>.]/g, "")} for "moora ${name}".`, hint);
  if (words.length > slots.length && !usage.includes("..."))
    throw new UsageError(`Too many arguments for "moora ${name}".`, hint);
}

/** The number of a record. Undefined where the option is not given. */
export function positionOf(options: GivenOptions, name: OptionName): number | undefined {
  const text = options.text(name);
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new UsageError(
    `--${name} must be the number of a record, got "${text}".`,
    "To see the records: moora log",
  );
}

/** Throws `CliFailure` for a record that the session does not have. `last`: the last one that it has. */
export function checkPosition(id: string, position: number | undefined, last: number): void {
  if (position === undefined || position <= last) return;
  throw new CliFailure(
    exitCodes.missing,
    `Session "${id}" has no record ${position}. ${last === 0 ? "It has none." : `The last one is ${last}.`}`,
  );
}
