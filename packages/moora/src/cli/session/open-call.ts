import type { EventLog } from "@moora/event-log";
import type { CliHost } from "../cli-host.ts";
import type { GivenOptions } from "../options.ts";
import type { Screen } from "../terminal/screen.ts";
import type { CommandHints } from "./command-hints.ts";
import type { LogTarget } from "./log-target.ts";

/** An open log, and the output of the command that uses it. */
export interface OpenLog {
  readonly log: EventLog;
  readonly target: LogTarget;
  readonly screen: Screen;
}

/** One call of a command about sessions. */
export interface SessionCall extends OpenLog {
  readonly args: readonly string[];
  readonly options: GivenOptions;
  readonly host: CliHost;
  readonly hints: CommandHints;
  /** The session: the first argument. */
  readonly id: string;
  /** Prints a result: text for people, or an object as a line of JSON for programs. */
  print(json: object, text: string): void;
}
