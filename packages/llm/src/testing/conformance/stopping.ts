import type { LlmCallOptions } from "../../caller.ts";
import type { LlmOutcome } from "../../outcome.ts";
import { check, equal, expectFailure, expectSuccess, textOf } from "./check.ts";
import type { ConformanceCase, ServerBehavior } from "./harness.ts";
import { requestOf, streamedText, collectChunks, longTimeouts, text } from "./requests.ts";

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

const earlyUsage = {
  inputTokens: 100,
  cachedInputTokens: 40,
  cacheWriteTokens: 0,
  outputTokens: 1,
  reasoningTokens: 0,
};
const counted = { ...text(...words), earlyUsage };

/** Streams that do not end normally after their first events. */
const earlyEnds: readonly (readonly [
  what: string,
  behavior: ServerBehavior,
  options: (abort: AbortController) => LlmCallOptions,
])[] = [
  [
    "an aborted stream",
    { type: "stall", answer: counted, afterEvents: 8 },
    (abort) => ({ ...longTimeouts, signal: abort.signal, onChunk: () => abort.abort() }),
  ],
  ["an interrupted stream", { type: "cut", answer: counted, afterEvents: 8, by: "fin" }, () => longTimeouts],
  [
    "a stalled stream",
    { type: "stall", answer: counted, afterEvents: 8 },
    () => ({ ...longTimeouts, idleTimeoutMs: 250 }),
  ],
  [
    "a stream that ends in an error",
    { type: "error-event", answer: counted, afterEvents: 8, error: "overloaded" },
    () => longTimeouts,
  ],
];

const usageCases = earlyEnds.map(([what, behavior, optionsOf]): ConformanceCase => ({
  name: `${what} reports the usage so far`,
  needs: ["http", "early-usage"],
  async run({ caller, serve }) {
    serve(behavior);
    const outcome: LlmOutcome = await caller.call(requestOf(), optionsOf(new AbortController()));
    check(!outcome.ok, "The call must fail.");
    equal(outcome.usage?.inputTokens, earlyUsage.inputTokens, "The input tokens");
    equal(outcome.usage?.cachedInputTokens, earlyUsage.cachedInputTokens, "The cached input tokens");
  },
}));

/** Aborted calls. */
export const stoppingCases: readonly ConformanceCase[] = [
  ...usageCases,
  {
    name: "a call that is aborted before it starts is not sent",
    needs: [],
    async run({ caller, serve, bodies }) {
      serve({ type: "answer", answer: text("3") });
      const { chunks, onChunk } = collectChunks();
      const outcome = await caller.call(requestOf(), {
        ...longTimeouts,
        onChunk,
        signal: AbortSignal.abort(),
      });
      check(!expectFailure(outcome, "aborted").retryable, "The failure must not be retryable.");
      equal([bodies.length, chunks.length], [0, 0], "The numbers of requests and chunks");
    },
  },
  {
    name: "a call that is aborted while it streams ends with the text so far",
    needs: [],
    async run({ caller, serve }) {
      serve({ type: "answer", answer: text(...words) });
      const { chunks, onChunk } = collectChunks();
      const abort = new AbortController();
      const outcome = await caller.call(requestOf(), {
        ...longTimeouts,
        signal: abort.signal,
        onChunk: (chunk) => {
          onChunk(chunk);
          if (chunks.length === 3) abort.abort();
        },
      });
      expectFailure(outcome, "aborted");
      check(
        !outcome.ok && outcome.partial.startsWith("word 0 "),
        "`partial` must be the beginning of the text.",
      );
      check(
        words.join("").startsWith(streamedText(chunks, "text")),
        "The streamed text must be the beginning of the text.",
      );
    },
  },
  {
    name: "a call that is aborted before the server responds ends immediately",
    needs: ["http"],
    async run({ caller, serve, received }) {
      serve({ type: "silent" });
      const abort = new AbortController();
      const call = caller.call(requestOf(), { ...longTimeouts, signal: abort.signal });
      await received(1);
      abort.abort(new Error("The user has left."));
      expectFailure(await call, "aborted");
    },
  },
  {
    name: "a stalled call ends immediately when it is aborted",
    needs: ["http"],
    async run({ caller, serve }) {
      serve({ type: "stall", answer: text(...words), afterEvents: 8 });
      const abort = new AbortController();
      const outcome = await caller.call(requestOf(), {
        ...longTimeouts,
        signal: abort.signal,
        onChunk: () => queueMicrotask(() => abort.abort()),
      });
      expectFailure(outcome, "aborted");
    },
  },
  {
    name: "a call leaves no listener on the signal, and ignores it after that",
    needs: ["http"],
    async run({ caller, serve }) {
      serve({ type: "answer", answer: text("3") }, { type: "error-response", status: 500, error: "server" });
      const { signal, abort, left } = countingSignal();
      const outcome = expectSuccess(await caller.call(requestOf(), { ...longTimeouts, signal }));
      expectFailure(await caller.call(requestOf(), { ...longTimeouts, signal }), "server");
      equal(left(), 0, "The number of listeners on the signal");
      abort();
      equal(textOf(outcome), "3", "The text");
    },
  },
];
