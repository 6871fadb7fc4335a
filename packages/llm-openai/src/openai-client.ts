import type { WireCall } from "@moora/llm";
import OpenAI from "openai";

/** A client for one request: no retries of its own, no logs, nothing from the environment but what was asked for. */
export const openAiClient = (call: WireCall, dangerouslyAllowBrowser: boolean): OpenAI =>
  new OpenAI({
    // Without a key there is no authorization; the client wants a word all the same.
    apiKey: call.apiKey ?? "none",
    adminAPIKey: null,
    organization: null,
    project: null,
    baseURL: call.baseURL,
    defaultHeaders: { ...(call.apiKey === undefined && { authorization: null }), ...call.headers },
    fetch: call.fetch,
    maxRetries: 0,
    // Silence is measured by the guard; this limit must only not come before it.
    timeout: 2 ** 31 - 1,
    logLevel: "off",
    dangerouslyAllowBrowser,
  });
