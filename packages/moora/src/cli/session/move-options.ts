import type { MoveOptions } from "@moora/agent";
import type { EventLog } from "@moora/event-log";
import { closedErrorOf } from "./closed-session.ts";
import type { SessionCall } from "./session-call.ts";

/** The options of a move, as those of the command line say. */
export const moveOptionsOf = ({ host, options }: SessionCall): MoveOptions => ({
  clock: host.clock,
  isCopyLost: options["copy-lost"] === true,
});

/** Reports an original that a move has kept in its log, because an earlier copy of it was lost. */
export async function reportKeptOriginal({ id, screen }: SessionCall, log: EventLog): Promise<void> {
  const kept = await closedErrorOf({ log, id });
  if (kept !== undefined) screen.line(kept.message);
}
