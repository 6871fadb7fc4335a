import type { LlmCaller } from "@moora/llm";
import {
  checkOptions,
  connectionForms,
  environmentVariable,
  optionsWithModel,
  callerOf,
  ProviderCaller,
  type ConnectionOptions,
  type ReaderContext,
  type WireCall,
} from "@moora/llm/adapter";
import type { ResponseCreateParamsStreaming } from "openai/resources/responses/responses";
import { openAiClient } from "./openai-client.ts";
import { errorToBody, rejectsEncryption } from "./openai-failure.ts";
import { OpenAiReader } from "./openai-to-outcome.ts";
import { openAiName, requestToOpenAi } from "./request-to-openai.ts";

/** The options of an `OpenAiCaller`. `apiKey` defaults to OPENAI_API_KEY, `baseURL` to OPENAI_BASE_URL or OpenAI's own URL. */
export type OpenAiOptions = ConnectionOptions;

/**
 * Calls the OpenAI Responses API without state on the provider's side: the provider stores nothing, and encrypted reasoning
 * is sent back to the model that generated it.
 */
export class OpenAiCaller extends ProviderCaller {
  /** Throws `LlmOptionError` for an unknown option and for a value of the wrong form. */
  constructor(options: OpenAiOptions = {}) {
    checkOptions<OpenAiOptions>("openai", options, connectionForms);
    const protocol = {
      provider: openAiName,
      api: "responses",
      baseURL: options.baseURL ?? environmentVariable("OPENAI_BASE_URL") ?? "https://api.openai.com/v1",
      keyName: "OPENAI_API_KEY",
      sendsIdempotencyKey: true,
      requestToBody: requestToOpenAi,
      open: async (body: ResponseCreateParamsStreaming, call: WireCall) => {
        const client = await openAiClient(call, openAiName, options);
        return client.responses.create(body, { signal: call.signal });
      },
      reader: (context: ReaderContext) => new OpenAiReader(context),
      errorToBody,
      rejectsEncryption,
    };
    super(callerOf(protocol, options));
  }
}

/**
 * A caller for a model of OpenAI: `openai("gpt-5.5")`. A request with its own `model` overrides it. Throws `LlmOptionError` for
 * an unknown option and for a value of the wrong form.
 */
export const openai = (model: string, options: OpenAiOptions = {}): LlmCaller =>
  new OpenAiCaller(optionsWithModel("openai", model, options));
