/**
 * Why a log rejects or fails a call:
 * - `Conflict`: the head is not where the writer expected it; `seq` is the head;
 * - `InvalidId`, `InvalidOption`, `InvalidRecord`: an invalid argument;
 * - `LogBusy`: another process held the lock for longer than the timeout; nothing was done;
 * - `LogCorrupt`: the stored data is not what was appended; `seq` is the first bad or missing record, 0 for the header;
 * - `LogExists`: the id is in use;
 * - `LogRemoved`: the session of this handle was removed;
 * - `LogWrite`: the file system or the database failed or refused;
 * - `UnsupportedRuntime`: this runtime lacks a module that the store needs;
 * - `UnsupportedVersion`: a newer release wrote the data.
 */
export type LogErrorCode =
  | "Conflict"
  | "InvalidId"
  | "InvalidOption"
  | "InvalidRecord"
  | "LogBusy"
  | "LogCorrupt"
  | "LogExists"
  | "LogRemoved"
  | "LogWrite"
  | "UnsupportedRuntime"
  | "UnsupportedVersion";

/** The error of a log. `code` is stable; `seq` is the record that the error is about, if there is one. */
export class LogError extends Error {
  override readonly name = "LogError";
  readonly code: LogErrorCode;
  readonly seq: number | undefined;

  constructor(code: LogErrorCode, message: string, options: { seq?: number; cause?: unknown } = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.seq = options.seq;
  }
  /** What may be logged or sent: the message and the cause's, without a stack. */
  toJSON(): Readonly<Record<string, unknown>> {
    const { name, code, message, seq, cause } = this;
    return {
      name,
      code,
      message,
      ...(seq === undefined ? {} : { seq }),
      ...(cause instanceof Error ? { cause: cause.message } : {}),
    };
  }
}
