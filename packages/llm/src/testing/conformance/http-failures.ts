import type { LlmFailureKind } from "../../outcome.ts";
import type { HarnessTarget, ScriptedError, ServerBehavior } from "./harness.ts";
import { check, equal, rules, rulesOf, type ConformanceCase, type Failed, type Scene } from "./scene.ts";

const page = "<html><head><title>Bad</title></head><body><h1>Something</h1> broke</body></html>";
const html = { "content-type": "text/html" };
const json = { "content-type": "application/json" };
const stream = { "content-type": "text/event-stream" };

/** A status and an error in the form of the dialect, or exactly this response, with a name. */
type Response =
  | readonly [status: number, error: ScriptedError]
  | readonly [status: number, name: string, headers: Readonly<Record<string, string>>, body: string];

/** Every kind of response that is not a stream, and what it is. */
const faults: readonly (readonly [LlmFailureKind, "retryable" | "permanent", Response])[] = [
  ["invalid-request", "permanent", [400, "invalid-request"]],
  ["auth", "permanent", [401, "auth"]],
  ["billing", "permanent", [402, "billing"]],
  ["auth", "permanent", [403, "auth"]],
  ["rate-limit", "retryable", [429, "rate-limit"]],
  ["billing", "permanent", [429, "billing"]],
  ["context-length", "permanent", [400, "context-length"]],
  ["context-length", "permanent", [413, "context-length"]],
  ["server", "retryable", [500, "server"]],
  ["overloaded", "retryable", [503, "overloaded"]],
  ["overloaded", "retryable", [529, "overloaded"]],
  ["invalid-request", "permanent", [404, "404 without a body", {}, ""]],
  ["server", "retryable", [408, "408 without a body", {}, ""]],
  ["server", "retryable", [409, "409 without a body", {}, ""]],
  ["context-length", "permanent", [413, "413 with a page", html, page]],
  ["invalid-request", "permanent", [422, "422 with a list", json, '{"detail":[{"msg":"field required"}]}']],
  ["rate-limit", "retryable", [429, "429 without a body", {}, ""]],
  ["server", "retryable", [502, "502 with a page", html, page]],
  ["server", "retryable", [503, "503 without a body", {}, ""]],
  ["overloaded", "retryable", [529, "529 without a body", {}, ""]],
  [
    "invalid-request",
    "permanent",
    [307, "a redirect to another host", { location: "http://elsewhere.invalid/v1" }, ""],
  ],
  ["malformed", "permanent", [200, "200 with a page", html, page]],
  ["malformed", "permanent", [200, "200 with JSON instead of a stream", json, '{"id":"x","choices":[]}']],
  ["malformed", "retryable", [200, "200 with JSON that is cut", json, '{"id":"x","choi']],
  [
    "invalid-request",
    "permanent",
    [
      200,
      "200 with an invalid_request error",
      json,
      '{"error":{"type":"invalid_request_error","message":"no such model"}}',
    ],
  ],
  ["empty", "retryable", [200, "200 with an empty body", stream, ""]],
  ["empty", "retryable", [200, "200 with an empty JSON body", json, ""]],
];

const behaviorOf = (response: Response): ServerBehavior => {
  if (response.length === 2) return { type: "error-response", status: response[0], error: response[1] };
  const [status, , headers, body] = response;
  return { type: "response", status, headers, body };
};

const nameOf = (response: Response): string =>
  response.length === 2 ? `${response[0]} (${response[1]})` : response[1];

const unreachable: readonly (readonly [when: string, HarnessTarget, retryable: boolean])[] = [
  ["a refused connection", "refused", true],
  ["a name that does not resolve", "unknown-host", true],
  ["a server without TLS", "no-tls", false],
];

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

const failureAfter = (
  at: Scene,
  kind: "rate-limit" | "overloaded",
  after: string | undefined,
): Promise<Failed> =>
  at.failure(kind, {
    type: "error-response",
    status: kind === "overloaded" ? 503 : 429,
    error: kind,
    headers: after === undefined ? {} : { "retry-after": after },
  });

/** Failures before the stream starts. */
export const httpFailureCases: readonly ConformanceCase[] = [
  ...rulesOf(
    ["http"],
    faults,
    ([kind, lasts, response]) => `${nameOf(response)} is the ${lasts} failure ${kind}, and is sent once`,
    async (at, [kind, lasts, response]) => {
      const failure = await at.failure(kind, behaviorOf(response));
      equal(failure.retryable, lasts === "retryable", "`retryable`");
      if (kind !== "empty") equal(failure.status, response[0], "The status");
      equal(at.harness.bodies.length, 1, "The number of requests");
    },
  ),
  ...unreachable.flatMap(([when, target, retryable]) =>
    rules(
      ["http"],
      {
        [`${when} is a ${retryable ? "retryable" : "permanent"} connection failure`]: async (at) => {
          const failure = await at.failure("connection", { type: "silent" });
          equal(failure.retryable, retryable, "`retryable`");
          check(failure.raw !== undefined, "`raw` must contain the error code of the transport.");
        },
      },
      { target },
    ),
  ),
  ...rules(["http"], {
    "Retry-After is read in seconds, without a maximum, and an invalid value is ignored": async (at) => {
      for (const [header, ms] of retryAfters) {
        const { retryAfterMs } = await failureAfter(at, "rate-limit", header);
        equal(retryAfterMs, ms, `Retry-After: ${header}`);
      }
    },
    "Retry-After is read as a date": async (at) => {
      const later = new Date(Date.now() + 3_600_000).toUTCString();
      const { retryAfterMs = 0 } = await failureAfter(at, "overloaded", later);
      const isInAnHour = retryAfterMs > 0 && retryAfterMs <= 3_600_000;
      check(isInAnHour, `retryAfterMs must be at most an hour, got ${retryAfterMs}.`);
      const past = await failureAfter(at, "overloaded", new Date(0).toUTCString());
      equal(past.retryAfterMs, undefined, "`retryAfterMs` for a date in the past");
    },
    "the message of an error has at most 2 KB": async (at) => {
      const plain = { "content-type": "text/plain" };
      const long = JSON.stringify({ error: { message: "ä".repeat(30_000), type: "t".repeat(30_000) } });
      for (const [headers, body] of [[plain, "ä".repeat(1_000_000)] as const, [json, long] as const]) {
        const { message, raw = "" } = await at.failure("server", {
          type: "response",
          status: 500,
          headers,
          body,
        });
        check(new TextEncoder().encode(message).length <= 2048, "`message` must have at most 2 KB.");
        check(raw.length <= 2048, "`raw` must have at most 2 KB.");
      }
    },
    "after a failure the next call succeeds": async (at) => {
      await at.failure("server", { type: "error-response", status: 500, error: "server" });
      await at.answer();
    },
  }),
];
