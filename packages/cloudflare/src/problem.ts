import { InputRefused, LogError, SessionError } from "@moora/agent";

/** An error for a client, as problem details (RFC 9457). */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, detail: string) {
    super(detail);
    this.status = status;
    this.code = code;
  }

  toResponse(): Response {
    const { status, code, message: detail } = this;
    const headers = { "content-type": "application/problem+json" };
    return new Response(JSON.stringify({ status, code, detail }), { status, headers });
  }
}

/** The problem of an error. The cause of an internal one is not shown. */
export function errorToProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof InputRefused) return new Problem(422, "refused", error.message);
  if (error instanceof SessionError && error.code === "RecordTooLong")
    return new Problem(422, "refused", error.message);
  if (error instanceof LogError && error.code === "InvalidId")
    return new Problem(400, "invalid-request", error.message);
  const isUnknown = error instanceof SessionError && error.code === "SessionUnknown";
  if (isUnknown || (error instanceof LogError && error.code === "LogRemoved"))
    return new Problem(404, "not-found", "There is no such session.");
  return new Problem(500, "internal", "The request failed.");
}
