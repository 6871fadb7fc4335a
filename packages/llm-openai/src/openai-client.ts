import { loadSdk } from "@moora/llm/adapter";
import type { WireCall } from "@moora/llm/adapter";
import type OpenAI from "openai";

/** The options of a client that a call does not carry. */
export interface ClientOptions {
  /** The name of the provider, for messages. */
  readonly provider: string;
  readonly dangerouslyAllowBrowser: boolean | undefined;
}

/**
 * A client for one request: no retries of its own, no logs, nothing from the environment but what was asked for. Loads
 * the SDK at the first call; rejects with an error that names the package to install where it is missing.
 */
export async function openAiClient(
  call: WireCall,
  { provider, dangerouslyAllowBrowser = false }: ClientOptions,
): Promise<OpenAI> {
  const sdk = await loadSdk(provider, "openai", () => import("openai"));
  return new sdk.OpenAI({
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
}
