import {
  cached,
  fallback,
  rateLimited,
  recorded,
  replayed,
  route,
  type LlmCaller,
  type LlmRecording,
} from "@moora/llm";
import { fails, llmConformance, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { scriptedSubject } from "../support/scripted-subject.ts";

/** Answers every request from a recording of it. */
const recordedFirst = (model: LlmCaller): LlmCaller => ({
  name: "recorded first",
  call: async (request, options) => {
    if (options?.signal?.aborted) return replayed([]).call(request, options);
    const recordings: LlmRecording[] = [];
    await recorded(model, (recording) => void recordings.push(recording)).call(request);
    return replayed(recordings).call(request, options);
  },
});

/** Answers every request twice: the second answer comes from the cache. */
const cachedTwice = (model: LlmCaller): LlmCaller => {
  const caller = cached(model);
  return {
    name: "cached twice",
    call: async (request, options) => {
      if (options?.signal?.aborted !== true) await caller.call(request);
      return caller.call(request, options);
    },
  };
};

const combinators: Readonly<Record<string, (model: LlmCaller) => LlmCaller>> = {
  "fallback, to the first": (model) => fallback([model, new MockLlmCaller([])]),
  "fallback, to the second": (model) => fallback([new MockLlmCaller(() => fails("server")), model]),
  route: (model) => route({ only: model }, () => "only"),
  "cached, at the first request": (model) => cached(model),
  "cached, at the second request": cachedTwice,
  recorded: (model) => recorded(model, () => undefined),
  replayed: recordedFirst,
  rateLimited: (model) => rateLimited(model, { requestsPerMinute: 1000, tokensPerMinute: 1e9 }),
};

describe.each(Object.entries(combinators))("%s is a conforming caller", (_, combine) => {
  it.each(llmConformance(scriptedSubject(combine)))("$name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
