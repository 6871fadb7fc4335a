import { MooraError } from "@moora/agent-core-effects";

/**
 * The code of a `SessionError`.
 *
 * - `SessionBusy`: another owner runs the session.
 * - `MoveUnfinished`: a move of the session to or from this log, or the fork or import that writes it, has not ended.
 * - `SessionIncomplete`: the fork or the import that wrote the session was interrupted, so that it lacks records.
 * - `CallOpen`: the session is that of a sub-agent, and its caller has the call open.
 * - `StaleWriter`: another owner has taken the session over.
 * - `RunByEngine`: an engine runs the session, and takes its posts by its host or by its own log.
 * - `NotOwner`: access `post` allows only messages, decisions and cancels.
 * - `ReadOnly`: access `read` allows no inputs.
 * - `WrongAgent`: the session belongs to another agent.
 * - `UnsupportedVersion`: a newer release wrote the session.
 * - `SessionUnknown`: the log does not contain a session with this id.
 * - `InvalidOption`: an option of a function that opens or reads a log is invalid.
 * - `RecordTooLong`: an input is longer than the log accepts; the session continues without it.
 * - `QuestionUnseen`, only reported to `onError`: a human is asked, and nothing in this process shows the question.
 */
export type SessionErrorCode =
  | "SessionBusy"
  | "MoveUnfinished"
  | "SessionIncomplete"
  | "CallOpen"
  | "StaleWriter"
  | "RunByEngine"
  | "NotOwner"
  | "ReadOnly"
  | "WrongAgent"
  | "UnsupportedVersion"
  | "SessionUnknown"
  | "InvalidOption"
  | "RecordTooLong"
  | "QuestionUnseen";

/** The fields of a `SessionError`, each undefined unless it applies. */
export interface SessionErrorDetails {
  readonly owner?: string | undefined;
  readonly until?: number | undefined;
  readonly seq?: number | undefined;
}

/**
 * An error of a session in a log, or of a function that reads logs. `code` is stable; the other fields are undefined unless
 * they apply.
 */
export class SessionError extends MooraError {
  override readonly name = "SessionError";
  readonly code: SessionErrorCode;
  /** The owner that runs the session, for `SessionBusy` and `StaleWriter`. */
  readonly owner: string | undefined;
  /** When the lease of that owner ends unless it is renewed, in milliseconds since 1970. */
  readonly until: number | undefined;
  /** The sequence number of the record that caused the error. */
  readonly seq: number | undefined;

  constructor(code: SessionErrorCode, message: string, about: SessionErrorDetails = {}) {
    super(message);
    this.code = code;
    this.owner = about.owner;
    this.until = about.until;
    this.seq = about.seq;
  }

  protected override about(): Readonly<Record<string, unknown>> {
    const { owner, until, seq } = this;
    return { owner, until, seq };
  }
}

/** The error for a post that the engine of the session would not notice; undefined for a session that no engine runs. */
export const runByEngineError = (id: string, owner: string | undefined): SessionError | undefined =>
  owner === undefined
    ? undefined
    : new SessionError(
        "RunByEngine",
        `The session ${id} is run by ${owner}, which does not notice a post to this log. Post with the host or with the log of ${owner}.`,
        { owner },
      );
