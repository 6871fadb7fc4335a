import { MooraError } from "@moora/agent";
import type { Problem } from "@moora/agent-webui-protocol";

/**
 * The code of a `ClientError`.
 *
 * - `Unauthorized`, `Forbidden`, `NotFound`: the server refused the user, the action, or knows no such session.
 * - `Refused`: the server refused the request; `problem` says why.
 * - `Unreachable`: the server could not be reached for `verify`, or answered to try again later; posts wait instead, and so do
 *   `connectSession` and the functions for the sessions of a server, which report this to `onError`.
 * - `ServerFailed`: the server failed while it handled the request, which may have been applied.
 * - `Unsupported`: the server is of another release, whose protocol or inputs this one cannot read, or it has other routes than
 *   `@moora/server`.
 * - `HistoryChanged`: the session has other records than were read before: it was removed and created again with the same id,
 *   or a backup was restored.
 * - `Diverged`: the state that was folded here is not that of the server.
 * - `PostDamaged`: the storage has a post of an earlier page that cannot be read; it was removed, and is not sent.
 * - `Closed`: the session was closed, here or because of another of these errors, which is the `cause`.
 */
export type ClientErrorCode =
  | "Unauthorized"
  | "Forbidden"
  | "NotFound"
  | "Refused"
  | "Unreachable"
  | "ServerFailed"
  | "Unsupported"
  | "HistoryChanged"
  | "Diverged"
  | "PostDamaged"
  | "Closed";

/** An error of a session that a server runs. Lost connections are made again, and are not errors. */
export class ClientError extends MooraError {
  override readonly name = "ClientError";
  readonly code: ClientErrorCode;
  /** The answer of the server; undefined for an error that the client found. */
  readonly problem: Problem | undefined;

  constructor(code: ClientErrorCode, message: string, details: { problem?: Problem; cause?: unknown } = {}) {
    super(message, "cause" in details ? { cause: details.cause } : undefined);
    this.code = code;
    this.problem = details.problem;
  }

  protected override about(): Readonly<Record<string, unknown>> {
    return this.problem === undefined ? {} : { problem: this.problem };
  }
}

/** The error for the answer of a server. */
export function problemToError(problem: Problem, code: ClientErrorCode = codeOf(problem)): ClientError {
  const { detail, title } = problem;
  return new ClientError(code, `The server answered: ${detail ?? title}`, { problem });
}

function codeOf({ status, code }: Problem): ClientErrorCode {
  if (code === "unsupported-protocol") return "Unsupported";
  if (code === "cursor-beyond-end" || code === "history-changed") return "HistoryChanged";
  if (status === 401) return "Unauthorized";
  if (status === 403) return "Forbidden";
  if (status === 404) return "NotFound";
  return status >= 500 ? "ServerFailed" : "Refused";
}

/** The error of calls after a session has ended; `cause` is why, if it was not closed by its owner. */
export const closedError = (cause?: unknown): ClientError =>
  cause === undefined
    ? new ClientError("Closed", "The session was closed.")
    : new ClientError(
        "Closed",
        `The session has ended. ${cause instanceof Error ? cause.message : ""}`.trim(),
        {
          cause,
        },
      );
