import type { LlmCallOptions, LlmCaller, LlmOutcome, LlmRequest } from "@moora/llm";
import { callProvider, environmentVariable } from "@moora/llm/adapter";
import type { ConnectionOptions, Protocol } from "@moora/llm/adapter";
import type {
  ChatCompletionChunk,
  ChatCompletionCreateParamsStreaming,
} from "openai/resources/chat/completions";
import { chatProfiles, type ChatProfile } from "./chat-profile.ts";
import { ChatReader } from "./chat-to-outcome.ts";
import { openAiClient } from "./openai-client.ts";
import { errorToBody, openAiErrorCodes } from "./openai-failure.ts";
import { requestToChat } from "./request-to-chat.ts";

/** `apiKey` and `baseURL` default to those of the profile. */
export interface OpenAiChatOptions extends ConnectionOptions {
  /** Default: OpenAI itself. */
  readonly profile?: ChatProfile;
}

/** Chat Completions, of OpenAI or of any server that speaks them. */
export class OpenAiChatCaller implements LlmCaller {
  readonly name: string;
  readonly model?: string;
  readonly #options: OpenAiChatOptions;
  readonly #protocol: Protocol<ChatCompletionCreateParamsStreaming, ChatCompletionChunk>;

  constructor(options: OpenAiChatOptions = {}) {
    const { profile = chatProfiles.openai, dangerouslyAllowBrowser } = options;
    this.name = profile.name;
    this.#options = options;
    if (options.model !== undefined) this.model = options.model;
    this.#protocol = {
      provider: profile.name,
      api: "chat",
      baseURL: options.baseURL ?? baseURLOf(profile),
      keyName: profile.keyName,
      sendsIdempotencyKey: profile.acceptsIdempotencyKey,
      requestToBody: (request, context) => requestToChat(request, context, profile),
      open: async (body, call) => {
        const client = await openAiClient(call, { provider: profile.name, dangerouslyAllowBrowser });
        return client.chat.completions.create(body, { signal: call.signal });
      },
      reader: (context) => new ChatReader(context),
      errorCodes: openAiErrorCodes,
      errorToBody,
      // Reasoning is plain text here: there is nothing to verify.
      rejectsRaw: () => false,
    };
  }

  call(request: LlmRequest, options?: LlmCallOptions): Promise<LlmOutcome> {
    return callProvider(this.#protocol, this.#options, request, options);
  }
}

/** The address in the environment is OpenAI's, so it counts for OpenAI only. */
const baseURLOf = (profile: ChatProfile): string =>
  (profile === chatProfiles.openai ? environmentVariable("OPENAI_BASE_URL") : undefined) ?? profile.baseURL;

/**
 * A model behind Chat Completions: `openaiChat("qwen3", { profile: chatProfiles.ollama })`. It is asked wherever a
 * request names no model.
 */
export const openaiChat = (model: string, options: OpenAiChatOptions = {}): LlmCaller =>
  new OpenAiChatCaller({ ...options, model });
