import { cached, fallback, LlmOptionError, rateLimited, recorded, replayed, route } from "@moora/llm";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { expect, it } from "vitest";

const model = new MockLlmCaller(() => answers("x"));
/** Values without types, as a program in JavaScript passes them. */
const any = (value: unknown): never => value as never;

it.each<[string, () => unknown, string]>([])(
  "%s refuses an option that it does not know, with a hint",
  (_, create, message) => {
    expect(create).toThrow(new LlmOptionError(message));
  },
);

it.each<[string, () => unknown, string]>([
  ["fallback without a list", () => fallback(any(model)), "fallback needs a list of callers"],
  ["fallback with a caller that is not one", () => fallback([any({})]), "fallback needs an LlmCaller"],
  [
    "fallback with a when that is not a function",
    () => fallback([model], any({ when: true })),
    "when of fallback",
  ],
  ["cached without a caller", () => cached(any(undefined)), "cached needs an LlmCaller"],
  [
    "cached with an unusable cache",
    () => cached(model, any({ cache: {} })),
    "cache of cached must be an object with",
  ],
  ["cached with null", () => cached(model, any(null)), "cached needs an object of options, got null."],
  ["rateLimited without a caller", () => rateLimited(any(null), { tokensPerMinute: 1 }), "got null."],
  [
    "rateLimited without options",
    () => rateLimited(model, any(undefined)),
    "rateLimited needs an object of options",
  ],
  ["route with a list of callers", () => route(any([model]), () => "0"), "route needs an object of callers"],
  ["route without callers", () => route(any(undefined), () => "a"), "route needs an object of callers"],
  ["route without a choice", () => route({ model }, any(undefined)), "route needs a function"],
  ["route with a caller that is not one", () => route({ a: any(5) }, () => "a"), "route needs an LlmCaller"],
  ["recorded without a caller", () => recorded(any(1), () => undefined), "recorded needs an LlmCaller"],
  ["recorded without a function", () => recorded(model, any({})), "recorded needs a function"],
  [
    "recorded with one secret in place of a list",
    () => recorded(model, () => undefined, any({ secrets: "key" })),
    "secrets of recorded must be a list of strings, got a string.",
  ],
  [
    "replayed with a recording that is not one",
    () => replayed(any([{ request: {}, outcome: {} }, {}])),
    "recordings[1] of replayed must be an object with request and outcome.",
  ],
  [
    "rateLimited with a clock without timers",
    () => rateLimited(model, any({ clock: { now: () => 0 } })),
    "clock of rateLimited must be a clock, an object with now() and after(), got an object.",
  ],
  ["replayed without recordings", () => replayed(any({})), "replayed needs a list of recordings"],
])("%s throws where it is given", (_, create, message) => {
  expect(create).toThrow(LlmOptionError);
  expect(create).toThrow(message);
});
