import { loadSdk, type WireCall } from "@moora/llm/adapter";
import type OpenAI from "openai";

/** Options of the client that do not depend on the call. */
export interface ClientOptions {
  /** The provider's name, for messages. */
  readonly provider: string;
  readonly dangerouslyAllowBrowser: boolean | undefined;
}

/**
 * Creates a client for one request: without retries, without logs, and without settings from the environment. Loads the SDK
 * at the first call; rejects with an error that names the package to install if it is missing.
 */
export async function openAiClient(
  call: WireCall,
  { provider, dangerouslyAllowBrowser = false }: ClientOptions,
): Promise<OpenAI> {
  const sdk = await loadSdk(provider, "openai", () => import("openai"));
  return new sdk.OpenAI({
    // The client requires a key. Without one, the authorization header is removed below.
    apiKey: call.apiKey ?? "none",
    adminAPIKey: null,
    organization: null,
    project: null,
    baseURL: call.baseURL,
    defaultHeaders: { ...(call.apiKey === undefined && { authorization: null }), ...call.headers },
    fetch: call.fetch,
    maxRetries: 0,
    // The stream guard limits the silence. This timeout must not end a request earlier.
    timeout: 2 ** 31 - 1,
    logLevel: "off",
    dangerouslyAllowBrowser,
  });
}
