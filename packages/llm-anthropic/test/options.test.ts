import { LlmOptionError } from "@moora/llm";
import { expect, it } from "vitest";
import { anthropic, AnthropicCaller } from "../src/index.ts";

/** A value as hosts without types give it. */
const untyped = (value: unknown) => JSON.parse(JSON.stringify(value ?? null)) ?? undefined;

it.each<[string, unknown, string]>([
  ["a misspelled baseURL", { baseUrl: "http://127.0.0.1:1" }, 'of anthropic. Did you mean "baseURL"?'],
  ["a key that is a number", { apiKey: 5 }, "apiKey of anthropic must be a string, got a number."],
  ["an unknown cache", { cache: "2h" }, 'cache of anthropic must be "off", "5m" or "1h", got "2h".'],
  ["a limit of 0 tokens", { maxOutputTokens: 0 }, "maxOutputTokens of anthropic must be a positive integer"],
])("anthropic refuses %s where it is given", (_, options, message) => {
  for (const create of [
    () => anthropic("m", untyped(options)),
    () => new AnthropicCaller(untyped(options)),
  ]) {
    expect(create).toThrow(LlmOptionError);
    expect(create).toThrow(message);
  }
});

it("anthropic accepts its own options", () => {
  expect(anthropic("m", { maxOutputTokens: 9, cache: "1h", model: "other" }).model).toBe("m");
});
