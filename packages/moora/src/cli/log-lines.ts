import type { LogEntry, LogListener } from "@moora/agent";
import type { Options } from "./options.ts";
import type { Screen } from "./terminal/screen.ts";

/** The listener that shows log entries on the screen for `--verbose`; none without it. */
export const logLines = (options: Options, screen: Screen): { readonly onLog?: LogListener } =>
  options.verbose === true ? { onLog: (entry) => screen.dim(entryToLine(entry)) } : {};

function entryToLine({ level, code, message, sessionId, data }: LogEntry): string {
  const details = Object.keys(data).length === 0 ? "" : ` ${JSON.stringify(data)}`;
  return `[${level}] ${code}, session ${sessionId}: ${message}${details}`;
}
