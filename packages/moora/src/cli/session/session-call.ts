import { SessionError } from "@moora/agent";
import type { EventLog } from "@moora/event-log";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes, type CliHost, type ExitCode } from "../cli-host.ts";
import { sessionOptions, type Command, type CommandCall } from "../command.ts";
import type { GivenOptions, OptionName } from "../options.ts";
import { Screen } from "../screen.ts";
import { urlPasswords } from "../url-passwords.ts";
import { UsageError } from "../usage-error.ts";
import { noticeToWords, openPlace, textToPlace, type LogPlace } from "./log-place.ts";

/** A command about sessions on its way: the log is open. */
export interface SessionCall {
  readonly words: readonly string[];
  readonly options: GivenOptions;
  readonly host: CliHost;
  readonly log: EventLog;
  readonly place: LogPlace;
  readonly screen: Screen;
  /** The session that is meant: the first word. */
  readonly id: string;
  /** A result: text for people, or an object as a line of JSON for programs. */
  say(json: object, text: string): void;
}

interface SessionCommand extends Pick<Command, "name" | "usage" | "summary"> {
  /** Beside those of every such command. */
  readonly options?: readonly OptionName[];
  /** Whether the log is made where there is none. */
  readonly makes?: boolean;
  readonly run: (call: SessionCall) => Promise<ExitCode>;
}

/** A row of the table of commands for a command about sessions. Its usage says how many words it takes. */
export const sessionCommand = ({ options = [], makes = false, run, ...row }: SessionCommand): Command => ({
  ...row,
  options: [...options, ...sessionOptions],
  async run(call, host) {
    checkWords(row, call.words);
    return await withLog(call, host, makes, async (at) => await run(at));
  },
});

/** The place that the options and the environment say. */
export const placeOf = (options: GivenOptions, { env, cwd }: Pick<CliHost, "env" | "cwd">): LogPlace =>
  textToPlace(options.text("log") ?? (env["MOORA_LOG"]?.trim() || undefined), cwd);

/** What no output may show of the place of a log. */
export const placeSecrets = (place: LogPlace): readonly string[] =>
  place.type === "postgres" ? urlPasswords(place.url) : [];

async function withLog<Result>(
  { words, options }: CommandCall,
  host: CliHost,
  makes: boolean,
  work: (call: SessionCall) => Promise<Result>,
): Promise<Result> {
  const place = placeOf(options, host);
  const screen = new Screen(host, placeSecrets(place));
  const onNotice = (notice: Parameters<typeof noticeToWords>[0]): void => screen.note(noticeToWords(notice));
  const log = await openPlace(place, { makes, onNotice });
  const [id = ""] = words;
  try {
    return await work({
      words,
      options,
      host,
      log,
      place,
      screen,
      id,
      say: (json, text) => (options.has("json") ? screen.json(json) : screen.answer(`${text}\n`)),
    });
  } catch (error) {
    if (error instanceof SessionError && error.code === "SessionUnknown") throw noSession(id, place);
    throw error;
  } finally {
    await log.close();
  }
}

/** There is no such session here. */
export const noSession = (id: string, { shown }: LogPlace): CliFailure =>
  new CliFailure(
    exitCodes.missing,
    `There is no session ${id} in ${shown}. moora sessions lists those that there are.`,
  );

/** A further command for the same log, to be typed. */
export const commandFor = (
  words: string,
  { options, place }: Pick<SessionCall, "options" | "place">,
): string => (options.has("log") ? `moora ${words} --log ${place.shown}` : `moora ${words}`);

function checkWords({ name, usage }: Pick<Command, "name" | "usage">, words: readonly string[]): void {
  const slots = usage.split(" ").filter((slot) => slot !== "");
  const missing = slots.find((slot, index) => slot.startsWith("<") && words[index] === undefined);
  if (missing !== undefined)
    throw new UsageError(`${name} needs ${missing.replaceAll(/[<>.]/g, "")}.`, `Say moora ${name} ${usage}.`);
  if (words.length > slots.length && !usage.includes("..."))
    throw new UsageError(`${name} takes fewer words.`, `Say moora ${name} ${usage}`.trim() + ".");
}

/** The number of a record. Undefined where the option is not given. */
export function positionOf(options: GivenOptions, name: OptionName): number | undefined {
  const text = options.text(name);
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new UsageError(
    `--${name} cannot be ${text}.`,
    "It is the number of a record, as moora log shows it.",
  );
}
