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

/** What a log refuses or fails with. `code` is stable; `seq` is the record it is about, where there is one. */
export class LogError extends Error {
  override readonly name = "LogError";
  readonly code: LogErrorCode;
  readonly seq: number | undefined;

  constructor(code: LogErrorCode, message: string, options: { seq?: number; cause?: unknown } = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.seq = options.seq;
  }
}
