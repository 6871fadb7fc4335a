import { describe, expect, it } from "vitest";
import { LlmOptionError } from "@moora/llm";
import { checkOptions, connectionForms, oneOf, optionForms, required } from "@moora/llm/adapter";

const forms = { ...connectionForms, mode: required(oneOf("a", "b")), size: optionForms.positiveInteger };
const check = (options: unknown) => () => checkOptions("model", options, forms);

describe("the options of a caller", () => {
  it("may be left out, or be undefined", () => {
    expect(check({ mode: "a", apiKey: undefined, size: 3 })).not.toThrow();
  });

  it.each<[string, unknown, string]>([
    ["null", null, "model needs an object of options, got null."],
    ["a list", [], "model needs an object of options, got an array."],
    [
      "an unknown name",
      { mode: "a", zzzzzzzz: 1 },
      'Unknown option "zzzzzzzz" of model. Known options: apiKey,',
    ],
    ["a near name", { mode: "a", apikey: "k" }, 'Did you mean "apiKey"?'],
    ["a name of every object", { mode: "a", constructor: 1 }, 'Unknown option "constructor" of model.'],
    ["a missing one", {}, 'mode of model is missing. It must be "a" or "b".'],
    ["a fraction", { mode: "a", size: 1.5 }, "size of model must be a positive integer, got 1.5."],
    ["NaN", { mode: "a", idleTimeoutMs: Number.NaN }, "must be a positive number of milliseconds, got NaN."],
    [
      "a function as text",
      { mode: "a", model: () => "m" },
      "model of model must be a string, got a function.",
    ],
  ])("are refused: %s", (_, options, message) => {
    expect(check(options)).toThrow(LlmOptionError);
    expect(check(options)).toThrow(message);
  });

  it("never show a key, a header or an address, which may have a password", () => {
    const secret = 987_654;
    for (const name of ["apiKey", "baseURL", "headers"])
      expect(check({ mode: "a", [name]: secret })).not.toThrow(String(secret));
  });
});
