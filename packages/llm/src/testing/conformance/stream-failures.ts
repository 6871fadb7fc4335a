import type { LlmFailureKind } from "../../outcome.ts";
import { check, equal, expectFailure, expectSuccess } from "./check.ts";
import type { ConformanceCase, ScriptedAnswer, ScriptedError } from "./harness.ts";
import { requestOf, requestWithTools, longTimeouts, text, twoCalls } from "./requests.ts";

/** An answer of about forty events: text word by word, then two calls. */
const long: ScriptedAnswer = {
  ...twoCalls,
  text: Array.from({ length: 24 }, (_, index) => `word ${index} `),
};
const fullText = (long.text ?? []).join("");

const cutCases = (["fin", "rst"] as const).map((by): ConformanceCase => ({
  name: `an answer that is cut (${by}) after any event is a retryable failure`,
  needs: ["http"],
  async run({ caller, serve, eventsOf }) {
    const events = eventsOf(long);
    check(events > 10, "The dialect must write more than 10 events for the answer.");
    for (let afterEvents = 1; afterEvents < events; afterEvents += 1) {
      serve({ type: "cut", answer: long, afterEvents, by });
      const outcome = await caller.call(requestWithTools(), longTimeouts);
      check(!outcome.ok, `An answer that is cut after ${afterEvents} of ${events} events must fail.`);
      const { kind, retryable } = outcome.failure;
      // A reset may arrive before earlier events.
      const isRight = kind === "interrupted" || (by === "rst" && kind === "connection");
      check(
        isRight && retryable,
        `An answer that is cut after ${afterEvents} events must be interrupted, got ${JSON.stringify(outcome.failure)}`,
      );
      check(fullText.startsWith(outcome.partial), "`partial` must be the beginning of the text.");
    }
    serve({ type: "cut", answer: long, afterEvents: events, by: "fin" });
    expectSuccess(await caller.call(requestWithTools(), longTimeouts));
  },
}));

const errors: readonly (readonly [ScriptedError, LlmFailureKind, boolean])[] = [
  ["overloaded", "overloaded", true],
  ["rate-limit", "rate-limit", true],
  ["server", "server", true],
  ["invalid-request", "invalid-request", false],
  ["context-length", "context-length", false],
];

const errorEventCases = errors.map(([error, kind, transient]): ConformanceCase => ({
  name: `an error event (${error}) in the middle of a stream is the failure ${kind}, with the text so far`,
  needs: ["http"],
  async run({ caller, serve, bodies, eventsOf }) {
    const afterEvents = Math.floor(eventsOf(long) / 2);
    serve({ type: "error-event", answer: long, afterEvents, error });
    const outcome = await caller.call(requestWithTools(), longTimeouts);
    equal(expectFailure(outcome, kind).retryable, transient, "`retryable`");
    check(
      !outcome.ok && outcome.partial !== "" && fullText.startsWith(outcome.partial),
      "`partial` must be the beginning of the text.",
    );
    equal(bodies.length, 1, "The number of requests");
  },
}));

/** A short idle limit, which a busy machine does not exceed between two events. */
const shortTimeouts = { firstChunkTimeoutMs: 20_000, idleTimeoutMs: 250 };

/** Failures after the stream has started. */
export const streamFailureCases: readonly ConformanceCase[] = [
  ...cutCases,
  ...errorEventCases,
  {
    name: "an event that is not JSON is the retryable failure malformed",
    needs: ["http"],
    async run({ caller, serve }) {
      serve({ type: "malformed-event", answer: long, afterEvents: 8 });
      check(
        expectFailure(await caller.call(requestWithTools(), longTimeouts), "malformed").retryable,
        "The failure must be retryable.",
      );
    },
  },
  {
    name: "a stalled stream fails after the idle limit, with the text so far",
    needs: ["http"],
    async run({ caller, serve, eventsOf }) {
      serve({ type: "stall", answer: long, afterEvents: Math.floor(eventsOf(long) / 2) });
      const outcome = await caller.call(requestWithTools(), shortTimeouts);
      check(expectFailure(outcome, "timeout").retryable, "The failure must be retryable.");
      check(
        !outcome.ok && outcome.partial !== "" && fullText.startsWith(outcome.partial),
        "`partial` must be the beginning of the text.",
      );
    },
  },
  {
    name: "a server that sends nothing fails after the limit for the first chunk",
    needs: ["http"],
    async run({ caller, serve }) {
      serve({ type: "silent" });
      const outcome = await caller.call(requestOf(), { firstChunkTimeoutMs: 30, idleTimeoutMs: 20_000 });
      check(expectFailure(outcome, "timeout").retryable, "The failure must be retryable.");
    },
  },
  {
    name: "a stream that stays open after its last event is complete",
    needs: ["http"],
    async run({ caller, serve, eventsOf }) {
      const answer = text("3");
      serve({ type: "stall", answer, afterEvents: eventsOf(answer) });
      expectSuccess(await caller.call(requestOf(), shortTimeouts));
    },
  },
];
