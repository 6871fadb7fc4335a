import type { LlmCallOptions } from "../../caller.ts";
import type { LlmOutcome } from "../../outcome.ts";
import { check, equal, expectFailure, expectSuccess, textOf } from "./check.ts";
import type { ConformanceCase, ServerBehavior } from "./harness.ts";
import { requestOf, streamedText, collectChunks, longTimeouts, text } from "./requests.ts";

const words = Array.from({ length: 30 }, (_, index) => `word ${index} `);

/** Counts the listeners that a signal has. */
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

/** Ways in which a call ends before its stream does, each after the first events. */
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
  ["a stream that is cut", { type: "cut", answer: counted, afterEvents: 8, by: "fin" }, () => longTimeouts],
  [
    "a stream that stalls",
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
  name: `${what} reports the usage it has seen`,
  needs: ["http", "early-usage"],
  async run({ caller, serve }) {
    serve(behavior);
    const outcome: LlmOutcome = await caller.call(requestOf(), optionsOf(new AbortController()));
    check(!outcome.ok, "the call succeeded");
    equal(outcome.usage?.inputTokens, earlyUsage.inputTokens, "the input tokens");
    equal(outcome.usage?.cachedInputTokens, earlyUsage.cachedInputTokens, "the cached input tokens");
  },
}));

/** Aborting a call. */
export const stoppingCases: readonly ConformanceCase[] = [
  ...usageCases,
  {
    name: "a call that is aborted before it begins is never sent",
    needs: [],
    async run({ caller, serve, bodies }) {
      serve({ type: "answer", answer: text("3") });
      const { chunks, onChunk } = collectChunks();
      const outcome = await caller.call(requestOf(), {
        ...longTimeouts,
        onChunk,
        signal: AbortSignal.abort(),
      });
      check(!expectFailure(outcome, "aborted").retryable, "an aborted call does not pass");
      equal([bodies.length, chunks.length], [0, 0], "the requests and the chunks");
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
      check(!outcome.ok && outcome.partial.startsWith("word 0 "), "the text so far is lost");
      check(words.join("").startsWith(streamedText(chunks, "text")), "it streamed something else");
    },
  },
  {
    name: "a call that is aborted before the server answers ends at once",
    needs: ["http"],
    async run({ caller, serve, received }) {
      serve({ type: "silent" });
      const abort = new AbortController();
      const call = caller.call(requestOf(), { ...longTimeouts, signal: abort.signal });
      await received(1);
      abort.abort(new Error("the user left"));
      expectFailure(await call, "aborted");
    },
  },
  {
    name: "a call that stalls ends at once when it is aborted",
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
    name: "a call leaves no listener on the signal, and the signal means nothing to it afterwards",
    needs: ["http"],
    async run({ caller, serve }) {
      serve({ type: "answer", answer: text("3") }, { type: "error-response", status: 500, error: "server" });
      const { signal, abort, left } = countingSignal();
      const outcome = expectSuccess(await caller.call(requestOf(), { ...longTimeouts, signal }));
      expectFailure(await caller.call(requestOf(), { ...longTimeouts, signal }), "server");
      equal(left(), 0, "the listeners that are left");
      abort();
      equal(textOf(outcome), "3", "the text");
    },
  },
];
