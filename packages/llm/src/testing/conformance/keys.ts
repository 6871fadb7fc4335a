import { requestOf, text } from "./requests.ts";
import { check, equal, rules, type ConformanceCase } from "./scene.ts";

const key = "key-canary-8f2e61";
const silent = { type: "silent" } as const;

/** Keys and headers of a request. */
export const keyCases: readonly ConformanceCase[] = [
  ...rules(
    ["http"],
    {
      "a key is sent, and no failure contains it, even if the server's message does": async (at) => {
        const bodies = [
          '{"error":{"message":"Incorrect API key: {key}","type":"{key}","code":"invalid_api_key"}}',
          "<p>Bearer {key} is wrong</p>",
          `${"x".repeat(2040)}{key}`,
        ];
        const headers = { "content-type": "application/json" };
        for (const body of bodies) {
          const failure = await at.failure("auth", { type: "response", status: 401, headers, body });
          const isHidden = !JSON.stringify(failure).includes(key.slice(0, 12));
          check(isHidden, "The outcome must not contain the key.");
        }
        const [sent] = at.harness.headers;
        check(JSON.stringify(sent).includes(key), "The request must contain the key.");
      },
    },
    { key },
  ),
  ...rules(
    ["http"],
    {
      "a call without a key fails with the name of the environment variable": async (at) => {
        const { keyName = "" } = at.subject;
        const { message, retryable } = await at.failure("auth", silent);
        check(message.includes(keyName), "The message must contain the name of the environment variable.");
        check(!retryable, "The failure must not be retryable.");
        equal(at.harness.bodies.length, 0, "The number of requests");
      },
    },
    { key: "" },
  ),
  ...rules(
    ["http"],
    {
      "a key that is not a valid header value fails without appearing in the message": async (at) => {
        const failure = await at.failure("auth", silent);
        check(!JSON.stringify(failure).includes(key), "The outcome must not contain the key.");
        equal(at.harness.bodies.length, 0, "The number of requests");
      },
    },
    { key: `${key}\nsecond line` },
  ),
  ...rules(
    ["http"],
    {
      "white space around a key is removed": async (at) => {
        await at.answer();
        const [sent] = at.harness.headers;
        check(JSON.stringify(sent).includes(key), "The request must contain the key.");
      },
    },
    { key: ` ${key}\n` },
  ),
  ...rules(["http"], {
    "the idempotency key is sent, also one that is not a valid header value": async (at) => {
      for (const idempotencyKey of ["plan/1/1/1", "plan/1/1/1", "schlüssel\n1"])
        await at.answer(text("3"), requestOf(), { idempotencyKey });
      const sent = at.harness.headers.map((header) => header["idempotency-key"] ?? "");
      equal(sent.slice(0, 2), ["plan/1/1/1", "plan/1/1/1"], "The keys");
      check(/^[\x21-\x7e]+$/.test(sent[2] ?? ""), "The third idempotency key must be a valid header value.");
    },
  }),
  ...rules(["cache-key"], {
    "the cache key is sent": async (at) => {
      for (const cacheKey of ["session-7", "long ".repeat(100)])
        await at.answer(text("3"), requestOf(), { cacheKey });
      const [first = ""] = at.harness.bodies;
      check(first.includes("session-7"), "The request must contain the cache key.");
    },
  }),
];
