import type { LlmCaller, LlmRequest } from "@moora/llm";
import {
  checkOptions,
  connectionForms,
  environmentVariable,
  optionsWithModel,
  callerOf,
  ProviderCaller,
  type BodyContext,
  type ConnectionOptions,
  type OptionForms,
  type ReaderContext,
  type WireCall,
} from "@moora/llm/adapter";
import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions";
import { chatProfiles, type ChatProfile } from "./chat-profile.ts";
import { profileForm } from "./profile-form.ts";
import { ChatReader } from "./chat-to-outcome.ts";
import { openAiClient } from "./openai-client.ts";
import { errorToBody } from "./openai-failure.ts";
import { requestToChat } from "./request-to-chat.ts";

/** The options of an `OpenAiChatCaller`. `apiKey` and `baseURL` default to those of the profile. */
export interface OpenAiChatOptions extends ConnectionOptions {
  /** The server. Default: OpenAI. */
  readonly profile?: ChatProfile;
}

const optionForms: OptionForms<OpenAiChatOptions> = { ...connectionForms, profile: profileForm };

/** Calls the Chat Completions API of OpenAI or of another server. */
export class OpenAiChatCaller extends ProviderCaller {
  /** Throws `LlmOptionError` for an unknown option and for a value of the wrong form, also in the profile. */
  constructor(options: OpenAiChatOptions = {}) {
    checkOptions("openaiChat", options, optionForms);
    const { profile = chatProfiles.openai } = options;
    const protocol = {
      provider: profile.name,
      api: "chat",
      baseURL: options.baseURL ?? baseURLOf(profile),
      keyName: profile.keyName,
      sendsIdempotencyKey: profile.acceptsIdempotencyKey,
      requestToBody: (request: LlmRequest, context: BodyContext) => requestToChat(request, context, profile),
      open: async (body: ChatCompletionCreateParamsStreaming, call: WireCall) => {
        const client = await openAiClient(call, profile.name, options);
        return client.chat.completions.create(body, { signal: call.signal });
      },
      reader: (context: ReaderContext) => new ChatReader(context, profile.reasoningField),
      errorToBody,
    };
    super(callerOf(protocol, options));
  }
}

/** OPENAI_BASE_URL applies to the profile of OpenAI only. */
const baseURLOf = (profile: ChatProfile): string =>
  (profile === chatProfiles.openai ? environmentVariable("OPENAI_BASE_URL") : undefined) ?? profile.baseURL;

/**
 * A caller for a model with the Chat Completions API: `openaiChat("qwen3", { profile: chatProfiles.ollama })`. A request with
 * its own `model` overrides it. Throws `LlmOptionError` for an unknown option and for a value of the wrong form, also in the
 * profile.
 */
export const openaiChat = (model: string, options: OpenAiChatOptions = {}): LlmCaller =>
  new OpenAiChatCaller(optionsWithModel("openaiChat", model, options));
