import type { LlmFailureKind } from "../../outcome.ts";
import type { ScriptedAnswer, ScriptedError } from "./harness.ts";
import { requestWithTools, text, twoCalls } from "./requests.ts";
import { check, equal, rules, rulesOf, type ConformanceCase } from "./scene.ts";

/** An answer of about forty events: text word by word, then two calls. */
const long: ScriptedAnswer = {
  ...twoCalls,
  text: Array.from({ length: 24 }, (_, index) => `word ${index} `),
};
const fullText = (long.text ?? []).join("");

/** Throws unless the text before a failure is the beginning of the answer, and not empty. */
function checkPartial(partial: string, isEmptyAllowed: boolean = false): void {
  const isBeginning = (isEmptyAllowed || partial !== "") && fullText.startsWith(partial);
  check(isBeginning, "`partial` must be the beginning of the text.");
}

const errors: readonly (readonly [ScriptedError, LlmFailureKind, retryable: boolean])[] = [
  ["overloaded", "overloaded", true],
  ["rate-limit", "rate-limit", true],
  ["server", "server", true],
  ["invalid-request", "invalid-request", false],
  ["context-length", "context-length", false],
];

/** A short idle limit, which a busy machine does not exceed between two events. */
const shortTimeouts = { idleTimeoutMs: 250 };

/** Failures after the stream has started. */
export const streamFailureCases: readonly ConformanceCase[] = [
  ...rulesOf(
    ["http"],
    ["fin", "rst"] as const,
    (by) => `an answer that is cut (${by}) after any event is a retryable failure`,
    async (at, by) => {
      const events = at.harness.eventsOf(long);
      check(events > 10, "The dialect must write more than 10 events for the answer.");
      for (let afterEvents = 1; afterEvents < events; afterEvents += 1) {
        const behavior = { type: "cut", answer: long, afterEvents, by } as const;
        const outcome = await at.outcome(behavior, requestWithTools());
        check(!outcome.ok, `An answer that is cut after ${afterEvents} of ${events} events must fail.`);
        const { kind, retryable } = outcome.failure;
        // A reset may arrive before earlier events.
        const isRight = retryable && (kind === "interrupted" || (by === "rst" && kind === "connection"));
        const got = JSON.stringify(outcome.failure);
        check(isRight, `An answer that is cut after ${afterEvents} events must be interrupted, got ${got}`);
        checkPartial(outcome.partial, true);
      }
      const complete = { type: "cut", answer: long, afterEvents: events, by: "fin" } as const;
      const { ok } = await at.outcome(complete, requestWithTools());
      check(ok, "An answer that is cut after its last event must be complete.");
    },
  ),
  ...rulesOf(
    ["http"],
    errors,
    ([error, kind]) =>
      `an error event (${error}) in the middle of a stream is the failure ${kind}, with the text so far`,
    async (at, [error, kind, retryable]) => {
      const afterEvents = Math.floor(at.harness.eventsOf(long) / 2);
      const behavior = { type: "error-event", answer: long, afterEvents, error } as const;
      const failure = await at.failure(kind, behavior, requestWithTools());
      equal(failure.retryable, retryable, "`retryable`");
      checkPartial(failure.partial);
      equal(at.harness.bodies.length, 1, "The number of requests");
    },
  ),
  ...rules(["http"], {
    "an event that is not JSON is the retryable failure malformed": async (at) => {
      const behavior = { type: "malformed-event", answer: long, afterEvents: 8 } as const;
      const { retryable } = await at.failure("malformed", behavior, requestWithTools());
      check(retryable, "The failure must be retryable.");
    },
    "a stalled stream fails after the idle limit, with the text so far": async (at) => {
      const afterEvents = Math.floor(at.harness.eventsOf(long) / 2);
      const behavior = { type: "stall", answer: long, afterEvents } as const;
      const failure = await at.failure("timeout", behavior, requestWithTools(), shortTimeouts);
      check(failure.retryable, "The failure must be retryable.");
      checkPartial(failure.partial);
    },
    "a server that sends nothing fails after the limit for the first chunk": async (at) => {
      const limits = { firstChunkTimeoutMs: 30 };
      const { retryable } = await at.failure("timeout", { type: "silent" }, undefined, limits);
      check(retryable, "The failure must be retryable.");
    },
    "a stream that stays open after its last event is complete": async (at) => {
      const answer = text("3");
      const behavior = { type: "stall", answer, afterEvents: at.harness.eventsOf(answer) } as const;
      const { ok } = await at.outcome(behavior, undefined, shortTimeouts);
      check(ok, "The call must succeed.");
    },
  }),
];
