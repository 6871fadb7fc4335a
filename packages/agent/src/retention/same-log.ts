import type { EventLog } from "@moora/event-log";
import { SessionError } from "../durable/session-error.ts";

/** Throws `InvalidOption` if the log to which sessions are moved is the one that has them. */
export function checkIsOther(from: EventLog, to: EventLog): void {
  if (from === to) throw sameLogError();
}

/** The error for a move to the log that has the sessions. */
export const sameLogError = (): SessionError =>
  new SessionError(
    "InvalidOption",
    "The log to which sessions are moved is the log that has them. Give another log.",
  );
