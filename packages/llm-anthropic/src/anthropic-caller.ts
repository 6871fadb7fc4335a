import type { MessageCreateParamsStreaming } from "@anthropic-ai/sdk/resources/messages";
import type { LlmCaller, LlmRequest } from "@moora/llm";
import {
  checkOptions,
  connectionForms,
  environmentVariable,
  hostOf,
  loadSdk,
  oneOf,
  optionForms,
  optionsWithModel,
  callerOf,
  ProviderCaller,
  sdkClientOptions,
  sdkErrorBody,
  type BodyContext,
  type ConnectionOptions,
  type OptionForms,
  type ReaderContext,
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
export class AnthropicCaller extends ProviderCaller {
  /** Throws `LlmOptionError` for an unknown option and for a value of the wrong form. */
  constructor(options: AnthropicOptions = {}) {
    checkOptions("anthropic", options, anthropicForms);
    const { maxOutputTokens, cache } = options;
    const baseURL =
      options.baseURL ?? environmentVariable("ANTHROPIC_BASE_URL") ?? "https://api.anthropic.com";
    const host = hostOf(baseURL);
    const protocol = {
      provider: anthropicName,
      api: "messages",
      baseURL,
      keyName: "ANTHROPIC_API_KEY",
      sendsIdempotencyKey: true,
      requestToBody: (request: LlmRequest, context: BodyContext) =>
        requestToAnthropic(request, { ...context, maxOutputTokens, cache, host }),
      open: async (body: MessageCreateParamsStreaming, call: WireCall) => {
        // Loaded at the first call. A missing SDK is an error that names the package to install.
        const sdk = await loadSdk(anthropicName, "@anthropic-ai/sdk", () => import("@anthropic-ai/sdk"));
        const client = new sdk.Anthropic({
          ...sdkClientOptions(call, options),
          apiKey: call.apiKey ?? null,
          defaultHeaders: call.headers,
        });
        return client.messages.create(body, { signal: call.signal });
      },
      reader: (context: ReaderContext) => new AnthropicReader(context),
      errorToBody: sdkErrorBody,
    };
    super(callerOf(protocol, options));
  }
}

/**
 * A caller for a model of Anthropic: `anthropic("claude-sonnet-5-5")`. A request with its own `model` overrides it. Throws
 * `LlmOptionError` for an unknown option and for a value of the wrong form.
 */
export const anthropic = (model: string, options: AnthropicOptions = {}): LlmCaller =>
  new AnthropicCaller(optionsWithModel("anthropic", model, options));
