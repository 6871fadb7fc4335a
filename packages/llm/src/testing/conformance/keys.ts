import { check, equal, expectFailure, expectSuccess } from "./check.ts";
import type { ConformanceCase } from "./harness.ts";
import { requestOf, longTimeouts, text } from "./requests.ts";

const key = "key-canary-8f2e61";

/** Keys and headers of a request. */
export const keyCases: readonly ConformanceCase[] = [
  {
    name: "a key is sent, and no failure contains it, even if the server's message does",
    needs: ["http"],
    setup: { key },
    async run({ caller, serve, headers }) {
      const bodies = [
        '{"error":{"message":"Incorrect API key: {key}","type":"{key}","code":"invalid_api_key"}}',
        "<p>Bearer {key} is wrong</p>",
        `${"x".repeat(2040)}{key}`,
      ];
      for (const body of bodies) {
        serve({ type: "response", status: 401, headers: { "content-type": "application/json" }, body });
        const outcome = await caller.call(requestOf(), longTimeouts);
        expectFailure(outcome, "auth");
        check(!JSON.stringify(outcome).includes(key.slice(0, 12)), "The outcome must not contain the key.");
      }
      check(JSON.stringify(headers[0]).includes(key), "The request must contain the key.");
    },
  },
  {
    name: "a call without a key fails with the name of the environment variable",
    needs: ["http"],
    setup: { key: "" },
    async run({ caller, bodies }, { keyName }) {
      const failure = expectFailure(await caller.call(requestOf(), longTimeouts), "auth");
      check(
        keyName === undefined || failure.message.includes(keyName),
        "The message must contain the name of the environment variable.",
      );
      check(!failure.retryable, "The failure must not be retryable.");
      equal(bodies.length, 0, "The number of requests");
    },
  },
  {
    name: "a key that is not a valid header value fails without appearing in the message",
    needs: ["http"],
    setup: { key: `${key}\nsecond line` },
    async run({ caller, bodies }) {
      const outcome = await caller.call(requestOf(), longTimeouts);
      expectFailure(outcome, "auth");
      check(!JSON.stringify(outcome).includes(key), "The outcome must not contain the key.");
      equal(bodies.length, 0, "The number of requests");
    },
  },
  {
    name: "white space around a key is removed",
    needs: ["http"],
    setup: { key: ` ${key}\n` },
    async run({ caller, serve, headers }) {
      serve({ type: "answer", answer: text("3") });
      expectSuccess(await caller.call(requestOf(), longTimeouts));
      check(JSON.stringify(headers[0]).includes(key), "The request must contain the key.");
    },
  },
  {
    name: "the idempotency key is sent, also one that is not a valid header value",
    needs: ["http"],
    async run({ caller, serve, headers }) {
      serve({ type: "answer", answer: text("3") });
      for (const idempotencyKey of ["plan/1/1/1", "plan/1/1/1", "schlüssel\n1"])
        expectSuccess(await caller.call(requestOf(), { ...longTimeouts, idempotencyKey }));

      const sent = headers.map((header) => header["idempotency-key"]);
      equal(sent.slice(0, 2), ["plan/1/1/1", "plan/1/1/1"], "The keys");
      check(/^[\x21-\x7e]+$/.test(sent[2] ?? ""), "The third idempotency key must be a valid header value.");
    },
  },
  {
    name: "the cache key is sent",
    needs: ["cache-key"],
    async run({ caller, serve, bodies }) {
      serve({ type: "answer", answer: text("3") });
      expectSuccess(await caller.call(requestOf(), { ...longTimeouts, cacheKey: "session-7" }));
      expectSuccess(await caller.call(requestOf(), { ...longTimeouts, cacheKey: "long ".repeat(100) }));
      check(bodies[0]?.includes("session-7") === true, "The request must contain the cache key.");
    },
  },
];
