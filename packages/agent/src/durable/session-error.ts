/**
 * Why a durable session does not do what it is asked. `SessionBusy`: another owner runs it. `StaleWriter`: another owner
 * has taken it over. `NotOwner`: this access posts messages, decisions and cancels only. `ReadOnly`: it posts nothing.
 * `WrongAgent`: the log belongs to another agent. `UnsupportedVersion`: a newer release wrote it.
 */
export type SessionErrorCode =
  | "SessionBusy"
  | "StaleWriter"
  | "NotOwner"
  | "ReadOnly"
  | "WrongAgent"
  | "UnsupportedVersion"
  | "SessionUnknown";

export class SessionError extends Error {
  override readonly name = "SessionError";
  readonly code: SessionErrorCode;
  /** Who runs the session, where that is the reason. */
  readonly owner: string | undefined;
  readonly seq: number | undefined;

  constructor(
    code: SessionErrorCode,
    message: string,
    about: { readonly owner?: string; readonly seq?: number } = {},
  ) {
    super(message);
    this.code = code;
    this.owner = about.owner;
    this.seq = about.seq;
  }
}
