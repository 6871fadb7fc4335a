import type { LlmFailureKind } from "../../outcome.ts";
import { check, equal, expectFailure, expectSuccess } from "./check.ts";
import type { ConformanceCase, ScriptedAnswer, ScriptedError } from "./harness.ts";
import { requestOf, requestWithTools, longTimeouts, text, twoCalls } from "./requests.ts";

/** About forty events: text in words, then two calls. */
const long: ScriptedAnswer = {
  ...twoCalls,
  text: Array.from({ length: 24 }, (_, index) => `word ${index} `),
};
const fullText = (long.text ?? []).join("");

const cutCases = (["fin", "rst"] as const).map((by): ConformanceCase => ({
  name: `an answer that is cut (${by}) after any event is never whole, and may pass`,
  needs: ["http"],
  async run({ caller, serve, eventsOf }) {
    const events = eventsOf(long);
    check(events > 10, "the answer has too few events to cut");
    for (let afterEvents = 1; afterEvents < events; afterEvents += 1) {
      serve({ type: "cut", answer: long, afterEvents, by });
      const outcome = await caller.call(requestWithTools(), longTimeouts);
      check(!outcome.ok, `cut after ${afterEvents} of ${events} events, it counts as whole`);
      const { kind, retryable } = outcome.failure;
      // A reset may overtake the events before it.
      const isRight = kind === "interrupted" || (by === "rst" && kind === "connection");
      check(isRight && retryable, `cut after ${afterEvents} events: ${JSON.stringify(outcome.failure)}`);
      check(fullText.startsWith(outcome.partial), "the partial text is not the beginning of the text");
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
  name: `an error event (${error}) in the middle of a stream is ${kind}, with the text so far`,
  needs: ["http"],
  async run({ caller, serve, bodies, eventsOf }) {
    const afterEvents = Math.floor(eventsOf(long) / 2);
    serve({ type: "error-event", answer: long, afterEvents, error });
    const outcome = await caller.call(requestWithTools(), longTimeouts);
    equal(expectFailure(outcome, kind).retryable, transient, "whether it may pass");
    check(
      !outcome.ok && outcome.partial !== "" && fullText.startsWith(outcome.partial),
      "the text so far is lost",
    );
    equal(bodies.length, 1, "the number of requests");
  },
}));

/** Longer than a busy machine pauses between two events. */
const shortTimeouts = { firstChunkTimeoutMs: 20_000, idleTimeoutMs: 250 };

/** Failures of a stream that had begun. */
export const streamFailureCases: readonly ConformanceCase[] = [
  ...cutCases,
  ...errorEventCases,
  {
    name: "an event that is no JSON makes the answer malformed, which may pass",
    needs: ["http"],
    async run({ caller, serve }) {
      serve({ type: "malformed-event", answer: long, afterEvents: 8 });
      check(
        expectFailure(await caller.call(requestWithTools(), longTimeouts), "malformed").retryable,
        "it may pass",
      );
    },
  },
  {
    name: "a stream that stalls is given up after the idle limit, with the text so far",
    needs: ["http"],
    async run({ caller, serve, eventsOf }) {
      serve({ type: "stall", answer: long, afterEvents: Math.floor(eventsOf(long) / 2) });
      const outcome = await caller.call(requestWithTools(), shortTimeouts);
      check(expectFailure(outcome, "timeout").retryable, "it may pass");
      check(
        !outcome.ok && outcome.partial !== "" && fullText.startsWith(outcome.partial),
        "the text so far is lost",
      );
    },
  },
  {
    name: "a server that says nothing is given up after the first limit",
    needs: ["http"],
    async run({ caller, serve }) {
      serve({ type: "silent" });
      const outcome = await caller.call(requestOf(), { firstChunkTimeoutMs: 30, idleTimeoutMs: 20_000 });
      check(expectFailure(outcome, "timeout").retryable, "it may pass");
    },
  },
  {
    name: "a stream that stays open after its last event is whole",
    needs: ["http"],
    async run({ caller, serve, eventsOf }) {
      const answer = text("3");
      serve({ type: "stall", answer, afterEvents: eventsOf(answer) });
      expectSuccess(await caller.call(requestOf(), shortTimeouts));
    },
  },
];
