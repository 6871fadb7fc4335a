import type { LlmFailureKind } from "../../outcome.ts";
import { check, equal, expectFailure } from "./check.ts";
import type { ConformanceCase, HarnessTarget, ScriptedError, ServerBehavior } from "./harness.ts";
import { requestOf, longTimeouts, text } from "./requests.ts";

interface Fault {
  readonly when: string;
  readonly behavior: ServerBehavior;
  readonly kind: LlmFailureKind;
  readonly transient: boolean;
  readonly status?: number;
}

const page = "<html><head><title>Bad</title></head><body><h1>Something</h1> broke</body></html>";
const html = { "content-type": "text/html" };
const json = { "content-type": "application/json" };

const errorResponse = (
  status: number,
  error: ScriptedError,
  kind: LlmFailureKind,
  transient: boolean,
): Fault => ({
  when: `${status} (${error})`,
  behavior: { type: "error-response", status, error },
  kind,
  transient,
  status,
});

const rawResponse = (
  when: string,
  [status, headers, body]: readonly [number, Readonly<Record<string, string>>, string],
  kind: LlmFailureKind,
  transient: boolean,
): Fault => ({ when, behavior: { type: "response", status, headers, body }, kind, transient, status });

/** Every kind of response that is not a stream, and whether it is retryable. */
const faults: readonly Fault[] = [
  errorResponse(400, "invalid-request", "invalid-request", false),
  errorResponse(401, "auth", "auth", false),
  errorResponse(402, "billing", "billing", false),
  errorResponse(403, "auth", "auth", false),
  errorResponse(429, "rate-limit", "rate-limit", true),
  errorResponse(429, "billing", "billing", false),
  errorResponse(400, "context-length", "context-length", false),
  errorResponse(413, "context-length", "context-length", false),
  errorResponse(500, "server", "server", true),
  errorResponse(503, "overloaded", "overloaded", true),
  errorResponse(529, "overloaded", "overloaded", true),
  rawResponse("404 without a body", [404, {}, ""], "invalid-request", false),
  rawResponse("408 without a body", [408, {}, ""], "server", true),
  rawResponse("409 without a body", [409, {}, ""], "server", true),
  rawResponse("413 with a page", [413, html, page], "context-length", false),
  rawResponse(
    "422 with a list",
    [422, json, '{"detail":[{"msg":"field required"}]}'],
    "invalid-request",
    false,
  ),
  rawResponse("429 without a body", [429, {}, ""], "rate-limit", true),
  rawResponse("502 with a page", [502, html, page], "server", true),
  rawResponse("503 without a body", [503, {}, ""], "server", true),
  rawResponse("529 without a body", [529, {}, ""], "overloaded", true),
  rawResponse(
    "a redirect to another host",
    [307, { location: "http://elsewhere.invalid/v1" }, ""],
    "invalid-request",
    false,
  ),
  rawResponse("200 with a page", [200, html, page], "malformed", false),
  rawResponse(
    "200 with JSON instead of a stream",
    [200, json, '{"id":"x","choices":[]}'],
    "malformed",
    false,
  ),
  rawResponse("200 with JSON that is cut", [200, json, '{"id":"x","choi'], "malformed", true),
  rawResponse(
    "200 with an invalid_request error",
    [200, json, '{"error":{"type":"invalid_request_error","message":"no such model"}}'],
    "invalid-request",
    false,
  ),
  rawResponse("200 with an empty body", [200, { "content-type": "text/event-stream" }, ""], "empty", true),
  rawResponse("200 with an empty JSON body", [200, json, ""], "empty", true),
];

const faultCases = faults.map(({ when, behavior, kind, transient, status }): ConformanceCase => ({
  name: `${when} is the ${transient ? "retryable" : "permanent"} failure ${kind}, and is sent once`,
  needs: ["http"],
  async run({ caller, serve, bodies }) {
    serve(behavior);
    const failure = expectFailure(await caller.call(requestOf(), longTimeouts), kind);
    equal(failure.retryable, transient, "`retryable`");
    if (status !== undefined && kind !== "empty") equal(failure.status, status, "The status");
    equal(bodies.length, 1, "The number of requests");
  },
}));

const unreachable: readonly (readonly [string, HarnessTarget, boolean])[] = [
  ["a refused connection", "refused", true],
  ["a name that does not resolve", "unknown-host", true],
  ["a server without TLS", "no-tls", false],
];

const unreachableCases = unreachable.map(([when, target, transient]): ConformanceCase => ({
  name: `${when} is a ${transient ? "retryable" : "permanent"} connection failure`,
  needs: ["http"],
  setup: { target },
  async run({ caller }) {
    const failure = expectFailure(await caller.call(requestOf(), longTimeouts), "connection");
    equal(failure.retryable, transient, "`retryable`");
    check(failure.raw !== undefined, "`raw` must contain the error code of the transport.");
  },
}));

/** Values of the header, and the delay in milliseconds. */
const retryAfters: readonly (readonly [string | undefined, number | undefined])[] = [
  ["2", 2000],
  ["0", 0],
  ["1.5", 1500],
  ["1000000000", 1_000_000_000_000],
  ["-5", undefined],
  ["abc", undefined],
  ["", undefined],
  [undefined, undefined],
];

const retryAfterCases: readonly ConformanceCase[] = [
  {
    name: "Retry-After is read in seconds, without a maximum, and an invalid value is ignored",
    needs: ["http"],
    async run({ caller, serve }) {
      for (const [header, ms] of retryAfters) {
        const headers = header === undefined ? {} : { "retry-after": header };
        serve({ type: "error-response", status: 429, error: "rate-limit", headers });
        const failure = expectFailure(await caller.call(requestOf(), longTimeouts), "rate-limit");
        equal(failure.retryAfterMs, ms, `Retry-After: ${header}`);
      }
    },
  },
  {
    name: "Retry-After is read as a date",
    needs: ["http"],
    async run({ caller, serve }) {
      const later = new Date(Date.now() + 3_600_000).toUTCString();
      serve({ type: "error-response", status: 503, error: "overloaded", headers: { "retry-after": later } });
      const failure = expectFailure(await caller.call(requestOf(), longTimeouts), "overloaded");
      check(
        failure.retryAfterMs !== undefined && failure.retryAfterMs > 0 && failure.retryAfterMs <= 3_600_000,
        `retryAfterMs must be at most an hour, got ${failure.retryAfterMs}.`,
      );
      serve({
        type: "error-response",
        status: 503,
        error: "overloaded",
        headers: { "retry-after": new Date(0).toUTCString() },
      });
      const past = expectFailure(await caller.call(requestOf(), longTimeouts), "overloaded");
      equal(past.retryAfterMs, undefined, "`retryAfterMs` for a date in the past");
    },
  },
];

/** Failures before the stream starts. */
export const httpFailureCases: readonly ConformanceCase[] = [
  ...faultCases,
  ...unreachableCases,
  ...retryAfterCases,
  {
    name: "the message of an error has at most 2 KB",
    needs: ["http"],
    async run({ caller, serve }) {
      serve({
        type: "response",
        status: 500,
        headers: { "content-type": "text/plain" },
        body: "ä".repeat(1_000_000),
      });
      const failure = expectFailure(await caller.call(requestOf(), longTimeouts), "server");
      const long = JSON.stringify({ error: { message: "ä".repeat(30_000), type: "t".repeat(30_000) } });
      serve({ type: "response", status: 500, headers: { "content-type": "application/json" }, body: long });
      const longFailure = expectFailure(await caller.call(requestOf(), longTimeouts), "server");
      for (const { message, raw = "" } of [failure, longFailure]) {
        check(new TextEncoder().encode(message).length <= 2048, "`message` must have at most 2 KB.");
        check(raw.length <= 2048, "`raw` must have at most 2 KB.");
      }
    },
  },
  {
    name: "after a failure the next call succeeds",
    needs: ["http"],
    async run({ caller, serve }) {
      serve({ type: "error-response", status: 500, error: "server" }, { type: "answer", answer: text("3") });
      expectFailure(await caller.call(requestOf(), longTimeouts), "server");
      check((await caller.call(requestOf(), longTimeouts)).ok, "The next call must succeed.");
    },
  },
];
