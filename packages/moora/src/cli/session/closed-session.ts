import { SessionError } from "@moora/agent";
import { closedBy, closedError, closesOriginal, leaseIn } from "@moora/agent/internal";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes } from "../cli-host.ts";
import { parseLogTarget } from "./log-target.ts";
import type { SessionCall } from "./session-call.ts";

/** The error with which opening a closed session rejects; undefined for a session that is not closed. */
export async function closedErrorOf({
  log,
  id,
}: Pick<SessionCall, "log" | "id">): Promise<SessionError | undefined> {
  const lease = await leaseIn(log, id);
  return lease !== undefined && closedBy(lease) !== undefined ? closedError(id, lease) : undefined;
}

/** The member `closed` of a result in JSON. It is left out for a session that is not closed. */
export const closedToJson = (error: SessionError | undefined): object =>
  error === undefined ? {} : { closed: { code: error.code, message: error.message } };

/**
 * The failure for a move that has not ended and whose original is in this log, with the command for a copy that is lost: `move` is
 * the command that moves out of this log. Any other error as it is.
 */
export async function withCopyLostHint(
  error: unknown,
  { log, id, hints, options, host }: Pick<SessionCall, "log" | "id" | "hints" | "options" | "host">,
  move: "archive" | "restore",
): Promise<unknown> {
  if (!(error instanceof SessionError) || error.code !== "MoveUnfinished") return error;
  const lease = await leaseIn(log, id);
  if (lease === undefined || !closesOriginal(lease.owner)) return error;
  const given = options.archive;
  const archive = given === undefined ? [] : ["--archive", parseLogTarget(given, host.cwd).shown];
  const command = hints.command(move, id, "--copy-lost", ...archive);
  const { message } = closedError(id, lease);
  return new CliFailure(exitCodes.refused, `${message} If its copy is lost: ${command}`);
}
