import { AgentError } from "@moora/agent";
import { describe, expect, it } from "vitest";
import { errorToMessage } from "../../src/cli/error-message.ts";
import { providers } from "../../src/cli/providers.ts";
import { calls, FakeProvider, says } from "./fake-provider.ts";
import { TestHost } from "./test-host.ts";

const [openai] = providers;
if (openai === undefined) throw new Error("There is no provider.");
const chosen = { provider: openai, model: "gpt", timeoutSeconds: 60 };
const messageOf = (reason: string, message: string): string =>
  errorToMessage(new AgentError("LlmError", message, { reason }), chosen);

describe("the message for a failed model call", () => {
  it.each([
    ["auth", "401 Wrong key", "openai rejected the API key in OPENAI_API_KEY. Wrong key."],
    ["billing", "Pay first", "The account at openai has no credit left. Pay first."],
    ["rate-limit", "x", "openai received too many requests from this account. Try again later."],
    ["overloaded", "x", "openai is overloaded. Try again later."],
    ["server", "500 Oh", "openai reported an error of its own. Oh."],
    ["timeout", "x", "openai sent nothing for 60 s. Wait longer with --timeout SECONDS."],
    [
      "connection",
      "No answer from h: ENOTFOUND",
      "Cannot connect to openai. No answer from h: ENOTFOUND. Check the network, and --base-url if you set it.",
    ],
    ["interrupted", "x", "The connection to openai was interrupted."],
    [
      "context-length",
      "x",
      "The conversation is too long for gpt. Start a new session, or read less at a time.",
    ],
    ["refusal", "Not that.", "gpt declined to answer. Not that."],
    ["content-filter", "Filtered.", "The content filter of openai blocked the answer. Filtered."],
    ["empty", "x", "gpt gave an empty answer."],
    ["malformed", "Bad JSON", "The answer of gpt cannot be parsed. Bad JSON."],
    [
      "invalid-request",
      "The model `gpt` does not exist",
      'openai does not have the model "gpt". Choose another one with --model.',
    ],
    [
      "invalid-request",
      "model: gpt not found",
      'openai does not have the model "gpt". Choose another one with --model.',
    ],
    ["invalid-request", "temperature is wrong", "openai did not answer. temperature is wrong."],
    ["constructor", "Odd", "openai did not answer. Odd."],
  ])("%s: %s", (reason, message, expected) => {
    expect(messageOf(reason, message)).toBe(expected);
  });

  it("says when the provider accepts the next request, where that is too late", () => {
    const error = new AgentError("LlmError", "x", { reason: "rate-limit", retryAt: 86_400_000 });
    expect(errorToMessage(error, chosen)).toBe(
      "openai received too many requests from this account. It accepts the next request at 1970-01-02T00:00:00.000Z.",
    );
  });

  it("stays short and on one line for every text of the provider", () => {
    const expected = messageOf("server", `500 ${"long\n".repeat(500)}`);
    expect(expected.length).toBeLessThan(400);
    expect(expected).not.toContain("\n");
  });
});

describe("the failure of an agent", () => {
  it.each([
    ["Cancelled", "Cancelled", "Canceled."],
    [
      "AgentFailed",
      "MaxSteps",
      "The agent used all its steps without an answer. Allow more with --max-steps.",
    ],
    [
      "AgentFailed",
      "BudgetExceeded",
      "The agent used all its tokens without an answer. Allow more with --max-tokens.",
    ],
    ["InvalidTransition", "InvalidTransition", "The agent failed. It did."],
  ] as const)("%s, %s", (kind, reason, expected) => {
    expect(errorToMessage(new AgentError(kind, "It did.", { reason }), chosen)).toBe(expected);
  });

  it("an exceeded budget ends the run", async () => {
    await using provider = await FakeProvider.start(calls(["current_time", {}]), says("late"));
    const host = new TestHost();
    expect(await host.run(["run", "x", "--max-tokens", "10", ...provider.options])).toBe(1);
    expect(host.stderr.lines.at(-1)).toContain("Allow more with --max-tokens.");
    expect(provider.bodies).toHaveLength(1);
  });
});
