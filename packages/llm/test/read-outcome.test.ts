import { describe, expect, it } from "vitest";
import { readOutcome } from "@moora/llm/internal";
import { answers, callsTools, fails } from "@moora/llm/testing";

describe("the value that a caller returned", () => {
  it.each([answers("4"), callsTools([{ name: "add" }]), fails("server", { partial: "so" })])(
    "is returned unchanged if it is an outcome",
    (outcome) => expect(readOutcome(outcome, "mine")).toBe(outcome),
  );

  it.each<[unknown, string]>([
    [undefined, "a value of type undefined"],
    [null, "null"],
    ["4", "a value of type string"],
    [[], "an array"],
    [{}, "an object without its fields"],
    [{ ok: true, text: "4" }, "an object without its fields"],
    [{ ...answers("4"), turn: { parts: "4" } }, "an object without its fields"],
    [{ ...answers("4"), usage: undefined }, "an object without its fields"],
    [{ ok: false }, "an object without its fields"],
    [{ ok: false, failure: { kind: 5, message: "no" } }, "an object without its fields"],
  ])("is a malformed failure with the name of the caller otherwise: %j", (returned, what) =>
    expect(readOutcome(returned, "mine")).toEqual({
      ok: false,
      failure: {
        kind: "malformed",
        message: `The caller mine must return an LlmOutcome, got ${what}.`,
        retryable: false,
      },
      partial: "",
    }),
  );
});
