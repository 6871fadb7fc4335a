/** Why a request failed, as the innermost error reports it, and the code of that error. */
export interface RootCause {
  readonly message: string;
  readonly code?: string;
}

/**
 * The first cause with a code, otherwise the innermost message. The error of a timed-out signal has a name only; that of a name
 * with several addresses has the messages of all attempts.
 */
export function rootCause(error: unknown): RootCause {
  let message = error instanceof Error ? error.message : String(error);
  let at: unknown = error;
  // Causes may be circular.
  for (let depth = 0; depth < 8 && at instanceof Error; depth += 1) {
    message = messageOf(at) || message;
    if ("code" in at && typeof at.code === "string")
      return { message: messageOf(at) || at.code, code: at.code };
    if (at.name === "TimeoutError") return { message, code: at.name };
    at = at.cause;
  }
  return { message };
}

/** The error of a name with several addresses has no message of its own. */
function messageOf(error: Error): string {
  if (error.message !== "" || !(error instanceof AggregateError)) return error.message;
  return error.errors.map((one: unknown) => (one instanceof Error ? one.message : String(one))).join(", ");
}
