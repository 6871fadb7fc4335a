import { MooraError } from "@moora/agent-core-effects";

/**
 * Why a durable session does not do what it is asked. `SessionBusy`: another owner runs it. `StaleWriter`: another owner
 * has taken it over. `NotOwner`: this access posts messages, decisions and cancels only. `ReadOnly`: it posts nothing.
 * `WrongAgent`: the log belongs to another agent. `UnsupportedVersion`: a newer release wrote it. `SessionUnknown`: the
 * log has no session of this id. `InvalidOption`: an option of a function that opens or reads a log cannot be used. `RecordTooLong`: an input
 * is longer than any log takes; the session continues without it. `QuestionUnseen`, only reported to `onError`: a human is
 * asked, and nothing in this process shows the question.
 */
export type SessionErrorCode =
  | "SessionBusy"
  | "StaleWriter"
  | "NotOwner"
  | "ReadOnly"
  | "WrongAgent"
  | "UnsupportedVersion"
  | "SessionUnknown"
  | "InvalidOption"
  | "RecordTooLong"
  | "QuestionUnseen";

/** What a `SessionError` is about, where that applies. */
export interface SessionErrorDetails {
  readonly owner?: string | undefined;
  readonly until?: number | undefined;
  readonly seq?: number | undefined;
}

/** An error of a session in a log, or of a function that reads logs. `code` is stable; the other fields are undefined unless they apply. */
export class SessionError extends MooraError {
  override readonly name = "SessionError";
  readonly code: SessionErrorCode;
  /** The process that runs the session, where that is the reason. */
  readonly owner: string | undefined;
  /** When the right of that process ends unless it renews it, in milliseconds since 1970. */
  readonly until: number | undefined;
  /** The record that it is about. */
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
