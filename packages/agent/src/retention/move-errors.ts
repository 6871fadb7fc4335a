import { LogError, type EventLog, type Lease } from "@moora/event-log";
import { busyError } from "../durable/busy-error.ts";
import { SessionError } from "../durable/session-error.ts";

/** Throws `InvalidOption` if the log to which sessions are moved is the one that has them. */
export function checkIsOther(from: EventLog, to: EventLog): void {
  if (from !== to) return;
  throw new SessionError(
    "InvalidOption",
    "The log to which sessions are moved is the log that has them. Give another log.",
  );
}

export const heldError = (id: string, lease: Lease): SessionError =>
  busyError(id, lease, "Close it there, or wait for the end of its lease.");

export const existsError = (id: string): LogError =>
  new LogError(
    "LogExists",
    `The other log has a session "${id}", or is the same log. Compare the two, and remove the one that is not needed, or move a fork of this one with another id.`,
  );

/** The error for a moved session whose move has not ended, where the first log has another session of its id by now. */
export const replacedError = (id: string): SessionError =>
  new SessionError(
    "MoveUnfinished",
    `The other log has the session ${id}, whose move has not ended, and the first log has another session of this id by now. Do not remove the one in the other log: it may be the only copy. Remove the one in the first log, or move a fork of it with another id, and repeat the move.`,
  );

/** The error for a log whose sessions cannot be removed at a record. */
export const noRemoveAtError = ({ name }: EventLog): SessionError =>
  new SessionError(
    "InvalidOption",
    `The log "${name}" cannot move or prune sessions: its sessions have no removeAt.`,
  );

export const incompleteError = (id: string): SessionError =>
  new SessionError(
    "MoveUnfinished",
    `The copy of the session ${id} may lack records, and the first log does not have the session. Repeat the move from the log that has it, or remove the copy.`,
  );

export const unknownError = (id: string): SessionError =>
  new SessionError("SessionUnknown", `Session "${id}" not found.`);

export const calledError = (id: string, callerId: string): SessionError =>
  new SessionError(
    "InvalidOption",
    `Session "${id}" is that of a sub-agent of "${callerId}". Move "${callerId}": its sub-agents go with it.`,
  );

export const noRecordsError = (id: string): SessionError =>
  new SessionError("InvalidOption", `Session "${id}" has no records. Remove it instead.`);
