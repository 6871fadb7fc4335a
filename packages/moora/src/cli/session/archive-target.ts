import { dirname, join } from "node:path";
import type { EventLog } from "@moora/event-log";
import { openLog, parseLogTarget, type LogTarget } from "./log-target.ts";
import type { SessionCall } from "./session-call.ts";
import { usageError } from "../cli-failure.ts";

/** An open archive, which closes at the end of its block. */
export interface OpenArchive extends AsyncDisposable {
  readonly log: EventLog;
  readonly target: LogTarget;
}

/** Opens the log that `--archive` names; default: `archive.db` beside the log. `creates`: whether a missing one is created. */
export async function openArchive(
  { options, host, target, screen }: SessionCall,
  { creates }: { readonly creates: boolean },
): Promise<OpenArchive> {
  const archive = parseLogTarget(options.archive ?? besideLog(target), host.cwd);
  if (placeOf(archive) === placeOf(target))
    throw usageError("The archive is the log itself.", "Name another location with --archive.");
  const log = await openLog(archive, screen, creates);
  return { log, target: archive, [Symbol.asyncDispose]: async () => await log.close() };
}

const placeOf = (target: LogTarget): string => (target.type === "postgres" ? target.url : target.path);

function besideLog(target: LogTarget): string {
  switch (target.type) {
    case "sqlite":
      return join(dirname(target.shown), "archive.db");
    case "jsonl":
      return `${target.path}-archive`;
    case "postgres":
      throw usageError(
        "Missing --archive.",
        "Name where archived sessions are kept: FILE.db, a folder or postgres://...",
      );
  }
}
