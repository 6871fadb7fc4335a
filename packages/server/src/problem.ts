import type { Problem } from "@moora/agent-webui-protocol";

/** The status and the title of each problem, by its code. */
export const problems = {
  "invalid-request": { status: 400, title: "Invalid request" },
  "invalid-cursor": { status: 400, title: "Invalid cursor" },
  "cursor-beyond-end": { status: 400, title: "Cursor beyond the end" },
  "unsupported-protocol": { status: 400, title: "Unsupported protocol" },
  unauthorized: { status: 401, title: "Unauthorized" },
  forbidden: { status: 403, title: "Forbidden" },
  "host-not-allowed": { status: 403, title: "Host not allowed" },
  "origin-not-allowed": { status: 403, title: "Origin not allowed" },
  "not-found": { status: 404, title: "Not found" },
  "method-not-allowed": { status: 405, title: "Method not allowed" },
  "body-timeout": { status: 408, title: "Body not received in time" },
  "history-changed": { status: 409, title: "History changed" },
  "test-failed": { status: 409, title: "Test failed" },
  "data-changed": { status: 409, title: "Data changed" },
  "session-incomplete": { status: 409, title: "Session incomplete" },
  "body-too-large": { status: 413, title: "Body too large" },
  "unsupported-media-type": { status: 415, title: "Unsupported media type" },
  refused: { status: 422, title: "Refused" },
  "idempotency-key-reused": { status: 422, title: "Idempotency key reused" },
  "too-many-requests": { status: 429, title: "Too many requests" },
  "too-many-streams": { status: 429, title: "Too many streams" },
  internal: { status: 500, title: "Internal error" },
  unavailable: { status: 503, title: "Unavailable" },
} as const;

/** The code of a problem. */
export type ProblemCode = keyof typeof problems;

/** Members of a problem beside its code, and headers of its response. */
export interface ProblemDetails {
  readonly path?: string;
  readonly seq?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** An error that a client may read: its message is the `detail` of the response. */
export class HttpProblem extends Error {
  override readonly name = "HttpProblem";
  readonly code: ProblemCode;
  readonly details: ProblemDetails;

  constructor(code: ProblemCode, detail: string, details: ProblemDetails = {}) {
    super(detail, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.details = details;
  }

  /** The response with this problem. */
  toResponse(): Response {
    const { path, seq, headers } = this.details;
    const { status, title } = problems[this.code];
    const body: Problem = {
      type: "about:blank",
      title,
      status,
      code: this.code,
      detail: this.message,
      ...(path === undefined ? {} : { path }),
      ...(seq === undefined ? {} : { seq }),
    };
    return new Response(JSON.stringify(body), {
      status,
      headers: { "content-type": "application/problem+json", ...headers },
    });
  }
}

/** The answer for a session that does not exist, and for one that the user may not read. It does not repeat the id. */
export const sessionNotFound = (): HttpProblem => new HttpProblem("not-found", "Session not found.");

/** The answer for a path without a route. It does not repeat the path. */
export const pathNotFound = (): HttpProblem => new HttpProblem("not-found", "Path not found.");

/** The answer for an agent that this server does not have. */
export const agentNotFound = (): HttpProblem => new HttpProblem("not-found", "Agent not found.");

/** The answer to a repeated key whose first request was another one. */
export const keyReused = (): HttpProblem =>
  new HttpProblem("idempotency-key-reused", "This idempotency key belongs to another request.");

/** The answer of a server that is busy or closing. */
export const unavailable = (detail: string, cause?: unknown): HttpProblem =>
  new HttpProblem("unavailable", detail, { headers: { "retry-after": "1" }, cause });
