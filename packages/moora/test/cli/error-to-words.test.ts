import { AgentError } from "@moora/agent";
import { describe, expect, it } from "vitest";
import { errorToWords } from "../../src/cli/error-to-words.ts";
import { providers } from "../../src/cli/providers.ts";
import { calls, FakeProvider, says } from "./fake-provider.ts";
import { TestHost } from "./test-host.ts";

const [openai] = providers;
if (openai === undefined) throw new Error("There is no provider.");
const chosen = { provider: openai, model: "gpt" };
const words = (reason: string, message: string): string =>
  errorToWords(new AgentError("LlmError", message, { reason }), chosen);

describe("what goes wrong with a model, in words", () => {
  it.each([
    ["auth", "401 Wrong key", "openai does not accept the key in OPENAI_API_KEY. Wrong key"],
    ["billing", "Pay first", "The account at openai has no credit left. Pay first"],
    ["rate-limit", "x", "openai has had too many requests from this account. Try again later."],
    ["overloaded", "x", "openai is overloaded at present. Try again later."],
    ["server", "500 Oh", "openai has a fault on its side. Oh"],
    ["timeout", "x", "openai was silent for too long."],
    [
      "connection",
      "No answer from h: ENOTFOUND",
      "There is no connection to openai: check the network, and the address if you gave one. No answer from h: ENOTFOUND",
    ],
    ["interrupted", "x", "The connection to openai broke off again and again."],
    ["context-length", "x", "The conversation is too long for gpt. Begin a new one, or read less at a time."],
    ["refusal", "Not that.", "gpt declined to answer. Not that."],
    ["content-filter", "Filtered.", "The content filter of openai stopped it. Filtered."],
    ["empty", "x", "gpt gave an empty answer."],
    ["malformed", "Bad JSON", "The answer of gpt cannot be read. Bad JSON"],
    [
      "invalid-request",
      "The model `gpt` does not exist",
      "openai does not know the model gpt. Name another one with --model.",
    ],
    [
      "invalid-request",
      "model: gpt not found",
      "openai does not know the model gpt. Name another one with --model.",
    ],
    ["invalid-request", "temperature is wrong", "openai did not answer. temperature is wrong"],
    ["constructor", "Odd", "openai did not answer. Odd"],
  ])("%s: %s", (reason, message, told) => {
    expect(words(reason, message)).toBe(told);
  });

  it("stays short and in one line, whatever the provider says", () => {
    const told = words("server", `500 ${"long\n".repeat(500)}`);
    expect(told.length).toBeLessThan(400);
    expect(told).not.toContain("\n");
  });
});

describe("what goes wrong with the agent", () => {
  it.each([
    ["Cancelled", "Cancelled", "Cancelled."],
    [
      "AgentFailed",
      "MaxSteps",
      "The agent used all its steps without an answer. Allow it more with --max-steps.",
    ],
    [
      "AgentFailed",
      "BudgetExceeded",
      "The agent used all its tokens without an answer. Allow it more with --max-tokens.",
    ],
    ["InvalidTransition", "InvalidTransition", "The agent failed. It did."],
  ] as const)("%s, %s", (kind, reason, told) => {
    expect(errorToWords(new AgentError(kind, "It did.", { reason }), chosen)).toBe(told);
  });

  it("a budget that is spent ends the run", async () => {
    await using provider = await FakeProvider.start(calls(["current_time", {}]), says("late"));
    const host = new TestHost();
    expect(await host.run(["run", "x", "--max-tokens", "10", ...provider.options])).toBe(1);
    expect(host.stderr.lines.at(-1)).toContain("Allow it more with --max-tokens.");
    expect(provider.bodies).toHaveLength(1);
  });
});
