import { check, equal, expectFailure, expectSuccess } from "./check.ts";
import type { ConformanceCase } from "./harness.ts";
import { requestOf, longTimeouts, text } from "./requests.ts";

const key = "key-canary-8f2e61";

/** Keys, and the headers that go along. */
export const keyCases: readonly ConformanceCase[] = [
  {
    name: "a key is sent, and never shows in a failure, whatever the server says about it",
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
        check(!JSON.stringify(outcome).includes(key.slice(0, 12)), "the key shows in the outcome");
      }
      check(JSON.stringify(headers[0]).includes(key), "the key was not sent");
    },
  },
  {
    name: "a missing key fails when it is needed, and says where it is looked for",
    needs: ["http"],
    setup: { key: "" },
    async run({ caller, bodies }, { keyName }) {
      const failure = expectFailure(await caller.call(requestOf(), longTimeouts), "auth");
      check(keyName === undefined || failure.message.includes(keyName), "it does not name the variable");
      check(!failure.retryable, "a missing key does not pass");
      equal(bodies.length, 0, "the number of requests");
    },
  },
  {
    name: "a key that no header can carry fails clearly, without showing it",
    needs: ["http"],
    setup: { key: `${key}\nsecond line` },
    async run({ caller, bodies }) {
      const outcome = await caller.call(requestOf(), longTimeouts);
      expectFailure(outcome, "auth");
      check(!JSON.stringify(outcome).includes(key), "the key shows in the outcome");
      equal(bodies.length, 0, "the number of requests");
    },
  },
  {
    name: "white space around a key is not part of it",
    needs: ["http"],
    setup: { key: ` ${key}\n` },
    async run({ caller, serve, headers }) {
      serve({ type: "answer", answer: text("3") });
      expectSuccess(await caller.call(requestOf(), longTimeouts));
      check(JSON.stringify(headers[0]).includes(key), "the key was not sent");
    },
  },
  {
    name: "the idempotency key goes along, also one that no header can carry",
    needs: ["http"],
    async run({ caller, serve, headers }) {
      serve({ type: "answer", answer: text("3") });
      for (const idempotencyKey of ["plan/1/1/1", "plan/1/1/1", "schlüssel\n1"]) {
        expectSuccess(await caller.call(requestOf(), { ...longTimeouts, idempotencyKey }));
      }
      const sent = headers.map((header) => header["idempotency-key"]);
      equal(sent.slice(0, 2), ["plan/1/1/1", "plan/1/1/1"], "the keys");
      check(/^[\x21-\x7e]+$/.test(sent[2] ?? ""), "the third key is missing");
    },
  },
  {
    name: "the cache key goes along",
    needs: ["cache-key"],
    async run({ caller, serve, bodies }) {
      serve({ type: "answer", answer: text("3") });
      expectSuccess(await caller.call(requestOf(), { ...longTimeouts, cacheKey: "session-7" }));
      expectSuccess(await caller.call(requestOf(), { ...longTimeouts, cacheKey: "long ".repeat(100) }));
      check(bodies[0]?.includes("session-7") === true, "the cache key is missing");
    },
  },
];
