import type { LlmCallOptions } from "../../caller.ts";
import { noUsage } from "../../outcome.ts";
import type { ServerBehavior } from "./harness.ts";
import { requestOf, text } from "./requests.ts";
import {
  check,
  equal,
  failureIn,
  rules,
  rulesOf,
  streamedText,
  textOf,
  type ConformanceCase,
} from "./scene.ts";

const words = Array.from({ length: 30 }, (_, index) => `word ${index} `);

/** A signal that counts its listeners. */
function countingSignal(): {
  readonly signal: AbortSignal;
  readonly abort: () => void;
  readonly left: () => number;
} {
  const controller = new AbortController();
  const { signal } = controller;
  let left = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  Object.assign(signal, {
    addEventListener: (...given: Parameters<typeof add>) => ((left += 1), add(...given)),
    removeEventListener: (...given: Parameters<typeof remove>) => ((left -= 1), remove(...given)),
  });
  return { signal, abort: () => controller.abort(new Error("stop")), left: () => left };
}

/** Options that abort a call at its first chunk. */
const abortAtOnce = (abort: AbortController): LlmCallOptions => ({
  signal: abort.signal,
  onChunk: () => abort.abort(),
});

const earlyUsage = { ...noUsage, inputTokens: 100, cachedInputTokens: 40, outputTokens: 1 };
const eight = { answer: { ...text(...words), earlyUsage }, afterEvents: 8 };

/** Streams that do not end normally after their first events. */
const earlyEnds: readonly (readonly [
  what: string,
  behavior: ServerBehavior,
  options?: (abort: AbortController) => LlmCallOptions,
])[] = [
  ["an aborted stream", { type: "stall", ...eight }, abortAtOnce],
  ["an interrupted stream", { type: "cut", ...eight, by: "fin" }],
  ["a stalled stream", { type: "stall", ...eight }, () => ({ idleTimeoutMs: 250 })],
  ["a stream that ends in an error", { type: "error-event", ...eight, error: "overloaded" }],
];

/** Aborted calls. */
export const stoppingCases: readonly ConformanceCase[] = [
  ...rulesOf(
    ["http", "early-usage"],
    earlyEnds,
    ([what]) => `${what} reports the usage so far`,
    async (at, [, behavior, options]) => {
      const outcome = await at.outcome(behavior, undefined, options?.(new AbortController()));
      check(!outcome.ok, "The call must fail.");
      equal(outcome.usage?.inputTokens, earlyUsage.inputTokens, "The input tokens");
      equal(outcome.usage?.cachedInputTokens, earlyUsage.cachedInputTokens, "The cached input tokens");
    },
  ),
  ...rules([], {
    "a call that is aborted before it starts is not sent": async (at) => {
      let chunks = 0;
      const options = { onChunk: () => void (chunks += 1), signal: AbortSignal.abort() };
      const behavior = { type: "answer", answer: text("3") } as const;
      const { retryable } = await at.failure("aborted", behavior, undefined, options);
      check(!retryable, "The failure must not be retryable.");
      equal([at.harness.bodies.length, chunks], [0, 0], "The numbers of requests and chunks");
    },
    "a call that is aborted while it streams ends with the text so far": async (at) => {
      const chunks: Parameters<NonNullable<LlmCallOptions["onChunk"]>>[0][] = [];
      const abort = new AbortController();
      const onChunk: LlmCallOptions["onChunk"] = (chunk) => {
        if (chunks.push(chunk) === 3) abort.abort();
      };
      const behavior = { type: "answer", answer: text(...words) } as const;
      const options = { signal: abort.signal, onChunk };
      const { partial } = await at.failure("aborted", behavior, undefined, options);
      check(partial.startsWith("word 0 "), "`partial` must be the beginning of the text.");
      const isBeginning = words.join("").startsWith(streamedText(chunks, "text"));
      check(isBeginning, "The streamed text must be the beginning of the text.");
    },
  }),
  ...rules(["http"], {
    "a call that is aborted before the server responds ends immediately": async (at) => {
      const abort = new AbortController();
      const call = at.outcome({ type: "silent" }, requestOf(), { signal: abort.signal });
      await at.harness.received(1);
      abort.abort(new Error("The user has left."));
      failureIn(await call, "aborted");
    },
    "a stalled call ends immediately when it is aborted": async (at) => {
      const abort = new AbortController();
      const onChunk = (): void => queueMicrotask(() => abort.abort());
      const behavior = { type: "stall", answer: text(...words), afterEvents: 8 } as const;
      await at.failure("aborted", behavior, requestOf(), { signal: abort.signal, onChunk });
    },
    "a call leaves no listener on the signal, and ignores it after that": async (at) => {
      const { signal, abort, left } = countingSignal();
      const outcome = await at.answer(text("3"), requestOf(), { signal });
      const failing = { type: "error-response", status: 500, error: "server" } as const;
      await at.failure("server", failing, requestOf(), { signal });
      equal(left(), 0, "The number of listeners on the signal");
      abort();
      equal(textOf(outcome), "3", "The text");
    },
  }),
];
