import type Anthropic from "@anthropic-ai/sdk";
import type {
  MessageCreateParamsStreaming,
  RawMessageStreamEvent,
} from "@anthropic-ai/sdk/resources/messages";
import type { LlmCallOptions, LlmCaller, LlmOutcome, LlmRequest } from "@moora/llm";
import {
  callProvider,
  checkOptions,
  connectionForms,
  environmentVariable,
  hostOf,
  loadSdk,
  oneOf,
  optionForms,
  optionsWithModel,
  sdkErrorBody,
  type ConnectionOptions,
  type OptionForms,
  type Protocol,
  type WireCall,
} from "@moora/llm/adapter";
import type { AnthropicCache } from "./anthropic-cache.ts";
import { AnthropicReader } from "./anthropic-to-outcome.ts";
import { anthropicName, requestToAnthropic } from "./request-to-anthropic.ts";

/**
 * The options of an `AnthropicCaller`. `apiKey` defaults to ANTHROPIC_API_KEY, `baseURL` to ANTHROPIC_BASE_URL or Anthropic's
 * own URL.
 */
export interface AnthropicOptions extends ConnectionOptions {
  /** The output limit of requests without `maxOutputTokens`, because the API requires one. Default: 16,384. */
  readonly maxOutputTokens?: number;
  /** How long the provider caches prefixes. Default: `5m`. */
  readonly cache?: AnthropicCache;
}

const anthropicForms: OptionForms<AnthropicOptions> = {
  ...connectionForms,
  maxOutputTokens: optionForms.positiveInteger,
  cache: oneOf("off", "5m", "1h"),
};

/** Calls the Anthropic Messages API: always streamed, with cached prefixes, and with signed thinking sent back unchanged. */
export class AnthropicCaller implements LlmCaller {
  readonly name: string = anthropicName;
  readonly model?: string;
  readonly #options: AnthropicOptions;
  readonly #protocol: Protocol<MessageCreateParamsStreaming, RawMessageStreamEvent>;

  /** Throws `LlmOptionError` for an unknown option and for a value of the wrong form. */
  constructor(options: AnthropicOptions = {}) {
    checkOptions("anthropic", options, anthropicForms);
    const { maxOutputTokens, cache, dangerouslyAllowBrowser = false } = options;
    this.#options = options;
    if (options.model !== undefined) this.model = options.model;
    const baseURL =
      options.baseURL ?? environmentVariable("ANTHROPIC_BASE_URL") ?? "https://api.anthropic.com";
    const host = hostOf(baseURL);
    this.#protocol = {
      provider: anthropicName,
      api: "messages",
      baseURL,
      keyName: "ANTHROPIC_API_KEY",
      sendsIdempotencyKey: true,
      requestToBody: (request, context) =>
        requestToAnthropic(request, { ...context, maxOutputTokens, cache, host }),
      open: async (body, call) => {
        const client = await anthropicClient(call, dangerouslyAllowBrowser);
        return client.messages.create(body, { signal: call.signal });
      },
      reader: (context) => new AnthropicReader(context),
      errorToBody: sdkErrorBody,
    };
  }

  call(request: LlmRequest, options?: LlmCallOptions): Promise<LlmOutcome> {
    return callProvider(this.#protocol, this.#options, request, options);
  }
}

/**
 * Creates a client for one request, without retries and without logs. Loads the SDK at the first call; rejects with an error
 * that names the package to install if it is missing.
 */
async function anthropicClient(call: WireCall, dangerouslyAllowBrowser: boolean): Promise<Anthropic> {
  const sdk = await loadSdk(anthropicName, "@anthropic-ai/sdk", () => import("@anthropic-ai/sdk"));
  return new sdk.Anthropic({
    apiKey: call.apiKey ?? null,
    baseURL: call.baseURL,
    defaultHeaders: call.headers,
    fetch: call.fetch,
    maxRetries: 0,
    // The stream guard limits the silence. This timeout must not end a request earlier.
    timeout: 2 ** 31 - 1,
    logLevel: "off",
    dangerouslyAllowBrowser,
  });
}

/**
 * A caller for a model of Anthropic: `anthropic("claude-sonnet-5-5")`. A request with its own `model` overrides it. Throws
 * `LlmOptionError` for an unknown option and for a value of the wrong form.
 */
export const anthropic = (model: string, options: AnthropicOptions = {}): LlmCaller =>
  new AnthropicCaller(optionsWithModel("anthropic", model, options));
