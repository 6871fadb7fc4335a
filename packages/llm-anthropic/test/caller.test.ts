import { recordingFetch } from "@moora/llm/testing";
import { outputOfScript } from "@moora/testbed/llm/call-endings";
import { afterEach, describe, expect, it, vi } from "vitest";
import { anthropic, AnthropicCaller } from "../src/index.ts";
import { messagesDialect } from "@moora/testbed/anthropic/messages-dialect";
import { requestOf } from "@moora/testbed/request-of";

afterEach(() => void vi.unstubAllEnvs());

const request = requestOf();

describe("a caller", () => {
  it("can be created without a key, and fails when it is called", async () => {
    vi.stubEnv("ANTHROPIC_API_KEY", "");
    const caller = anthropic("m");
    expect(caller).toMatchObject({ name: "anthropic", model: "m" });
    expect(new AnthropicCaller().model).toBeUndefined();
    expect(await caller.call(request)).toMatchObject({
      failure: {
        kind: "auth",
        message: "anthropic: missing API key. Set ANTHROPIC_API_KEY, or pass apiKey.",
      },
    });
  });

  it("reads key and base URL from the environment at the time of the call", async () => {
    vi.stubEnv("ANTHROPIC_API_KEY", "from-env");
    vi.stubEnv("ANTHROPIC_AUTH_TOKEN", "token-canary");
    vi.stubEnv("ANTHROPIC_BASE_URL", "https://proxy.test");
    const { fetch, urls, headers, bodies } = recordingFetch(messagesDialect);
    const outcome = await anthropic("m", { fetch, maxOutputTokens: 9, cache: "off" }).call(request);
    expect(outcome).toMatchObject({ ok: true, turn: { origin: "anthropic/messages/proxy.test/m" } });
    expect(urls).toEqual(["https://proxy.test/v1/messages"]);
    expect(headers[0]?.get("authorization")).toBe("Bearer from-env");
    expect(bodies[0]).toMatchObject({ model: "m", max_tokens: 9 });
  });

  it.each([
    ["https://api.deepseek.com/anthropic", true],
    ["https://api.anthropic.com", false],
    ["https://eu.api.anthropic.com:443", false],
    ["https://anthropic.com.proxy.test", true],
  ])("sends thinking without a signature back to its server at %s: %j", async (baseURL, isSent) => {
    const { fetch, bodies } = recordingFetch(messagesDialect);
    const parts = [
      { type: "reasoning", text: "Hm.", raw: { signature: "" } },
      { type: "reasoning", text: "", raw: {} },
      { type: "tool-call", id: "1", name: "add", arguments: "{}" },
    ] as const;
    const origin = `anthropic/messages/${URL.parse(baseURL)?.host}/m`;
    const results = [{ isError: false, content: "3" }];
    const turns = [origin, "elsewhere"].map(
      (from) => ({ role: "assistant", turn: { origin: from, parts }, results }) as const,
    );
    await anthropic("m", { apiKey: "k", baseURL, fetch }).call(
      requestOf({ messages: [...requestOf().messages, ...turns] }),
    );
    const block = { type: "thinking", thinking: "Hm.", signature: "" };
    const call = { type: "tool_use", id: expect.any(String), name: "add", input: {} };
    const turn = (content: readonly object[]): object => ({ role: "assistant", content });
    expect(bodies[0]?.["messages"]).toEqual([
      expect.anything(),
      turn(isSent ? [block, call] : [call]),
      expect.anything(),
      turn([call]),
      expect.anything(),
    ]);
  });

  it("may send a key in another header for gateways", async () => {
    const { fetch, headers } = recordingFetch(messagesDialect);
    await anthropic("m", { apiKey: "some-key", headers: { "x-api-key": "gateway-key" }, fetch }).call(
      request,
    );
    expect(headers[0]?.get("x-api-key")).toBe("gateway-key");
  });
});

describe("a call", () => {
  it("leaves no timer and no socket open, in whichever way it ends", () =>
    expect(outputOfScript(`${import.meta.dirname}/support/every-ending.ts`)).resolves.toBe("done"));
});
