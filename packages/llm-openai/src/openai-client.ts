import { loadSdk, sdkClientOptions, type ConnectionOptions, type WireCall } from "@moora/llm/adapter";
import type OpenAI from "openai";

/**
 * Creates a client for one request, without settings from the environment. Loads the SDK at the first call; rejects with an error that
 * names the package to install if it is missing.
 */
export async function openAiClient(
  call: WireCall,
  provider: string,
  options: ConnectionOptions,
): Promise<OpenAI> {
  const sdk = await loadSdk(provider, "openai", () => import("openai"));
  return new sdk.OpenAI({
    ...sdkClientOptions(call, options),
    // The client requires a key. Without one, the authorization header is removed.
    apiKey: call.apiKey ?? "none",
    defaultHeaders: { ...(call.apiKey === undefined && { authorization: null }), ...call.headers },
    adminAPIKey: null,
    organization: null,
    project: null,
  });
}
