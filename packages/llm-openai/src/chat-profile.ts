import { commonFiles, type FileRules, type FileLimits, type IdFormat } from "@moora/llm/adapter";

/** The limits of OpenAI, for both of its APIs: 1,500 images, and 512 MB in one request. */
export const openAiFileLimits: FileLimits = { maxFiles: 1_500, maxTotalLength: 512 * 2 ** 20 };

/** The files of OpenAI Responses. */
export const openAiFiles: FileRules = { ...openAiFileLimits, types: commonFiles };

/** Fields of a request that a server may support by another name, or not at all. */
export type ChatField =
  | "seed"
  | "stop"
  | "logprobs"
  | "parallel_tool_calls"
  | "prompt_cache_key"
  | "reasoning_effort"
  | "stream_options";

/** How a server with the Chat Completions API differs from others. */
export interface ChatProfile {
  /** The name of the caller, also in `providerOptions`. */
  readonly name: string;
  /** The absolute URL of the API. */
  readonly baseURL: string;
  /** The environment variable with the API key; missing if the server needs no key. */
  readonly keyName?: string;
  /** The format of tool call ids. Default: `^[A-Za-z0-9_-]{1,64}$`. */
  readonly callIdFormat?: IdFormat;
  /** The format of tool names. Default: `^[A-Za-z0-9_-]{1,64}$`. */
  readonly nameFormat?: IdFormat;
  /** The field for `maxOutputTokens`. */
  readonly tokenField: "max_tokens" | "max_completion_tokens";
  /** The role of the system text. */
  readonly systemRole: "system" | "developer";
  /** The role of a note inside the conversation. Many chat templates allow no second system message. */
  readonly noteRole: "system" | "developer" | "user";
  /** Whether user and assistant messages must alternate. Then neighbors of one role are merged. */
  readonly requiresAlternation: boolean;
  /** Whether a user message may directly follow tool results. */
  readonly allowsUserAfterResults: boolean;
  /** The field in which the reasoning of an assistant turn is sent back; missing if it is not sent back. */
  readonly reasoningField?: string;
  /** Whether each assistant turn needs `reasoningField`, which is empty where the turn has no reasoning. Default: false. */
  readonly requiresReasoning?: boolean;
  /** The documented limits for the files of a request. Default: none. */
  readonly fileLimits?: FileLimits;
  /** Whether the server enforces schemas with `strict: true`. "off": it does, in a dialect of its own, unless `strict` is false. */
  readonly strict: boolean | "off";
  /** When the server accepts the schema of the answer as a field. Otherwise it is part of the system text. */
  readonly answerFormat: "always" | "without-tools" | "never";
  /** Whether the server accepts PDF files in OpenAI's format. */
  readonly acceptsPdf: boolean;
  /** Whether the server accepts the `idempotency-key` header, also from a browser. */
  readonly acceptsIdempotencyKey: boolean;
  /** The server's own names of fields; `false` for a field that it does not support. */
  readonly fields: Readonly<Partial<Record<ChatField, string | false>>>;
}

/** The profile of an unknown server: only what every server accepts. */
const minimal = {
  tokenField: "max_tokens",
  systemRole: "system",
  noteRole: "user",
  requiresAlternation: true,
  allowsUserAfterResults: true,
  strict: false,
  answerFormat: "without-tools",
  acceptsPdf: false,
  acceptsIdempotencyKey: false,
  fields: { prompt_cache_key: false },
} as const;

/** Servers with fewer restrictions: no alternation, system messages anywhere. */
const permissive = {
  ...minimal,
  noteRole: "system",
  requiresAlternation: false,
  acceptsIdempotencyKey: true,
} as const;

/** The names of the built-in profiles. */
export type ChatProfileName =
  | "openai"
  | "openrouter"
  | "groq"
  | "deepseek"
  | "moonshot"
  | "mistral"
  | "together"
  | "ollama"
  | "vllm"
  | "local";

/** Built-in profiles of servers. For any other server: `{ ...chatProfiles.local, name, baseURL, keyName }`. */
export const chatProfiles: Readonly<Record<ChatProfileName, ChatProfile>> = {
  openai: {
    ...permissive,
    name: "openai-chat",
    baseURL: "https://api.openai.com/v1",
    keyName: "OPENAI_API_KEY",
    tokenField: "max_completion_tokens",
    systemRole: "developer",
    noteRole: "developer",
    strict: true,
    answerFormat: "always",
    acceptsPdf: true,
    fileLimits: openAiFileLimits,
    fields: {},
  },
  openrouter: {
    ...permissive,
    name: "openrouter",
    baseURL: "https://openrouter.ai/api/v1",
    keyName: "OPENROUTER_API_KEY",
    noteRole: "user",
    answerFormat: "always",
    acceptsPdf: true,
  },
  groq: {
    ...permissive,
    name: "groq",
    baseURL: "https://api.groq.com/openai/v1",
    keyName: "GROQ_API_KEY",
    tokenField: "max_completion_tokens",
    answerFormat: "never",
    fileLimits: { maxFiles: 5, maxTotalLength: 4 * 2 ** 20 },
    fields: { ...permissive.fields, logprobs: false },
  },
  deepseek: {
    ...minimal,
    name: "deepseek",
    baseURL: "https://api.deepseek.com/v1",
    keyName: "DEEPSEEK_API_KEY",
    answerFormat: "never",
    acceptsIdempotencyKey: true,
    reasoningField: "reasoning_content",
    requiresReasoning: true,
    fields: { ...minimal.fields, seed: false, parallel_tool_calls: false },
  },
  moonshot: {
    ...minimal,
    name: "moonshot",
    baseURL: "https://api.moonshot.ai/v1",
    keyName: "MOONSHOT_API_KEY",
    tokenField: "max_completion_tokens",
    // The model makes ids such as functions.search:0, and expects them back.
    callIdFormat: { pattern: /^[A-Za-z0-9_.:-]{1,64}$/, length: 24 },
    nameFormat: { pattern: /^[A-Za-z_][A-Za-z0-9_-]{2,63}$/, length: 24 },
    strict: "off",
    answerFormat: "never",
    acceptsIdempotencyKey: true,
    reasoningField: "reasoning_content",
    requiresReasoning: true,
    fields: { seed: false, logprobs: false, parallel_tool_calls: false },
  },
  mistral: {
    ...minimal,
    name: "mistral",
    baseURL: "https://api.mistral.ai/v1",
    keyName: "MISTRAL_API_KEY",
    acceptsIdempotencyKey: true,
    callIdFormat: { pattern: /^[A-Za-z0-9]{9}$/, length: 9 },
    allowsUserAfterResults: false,
    fileLimits: { maxFiles: 8 },
    fields: { ...minimal.fields, seed: "random_seed", stream_options: false, logprobs: false },
  },
  together: {
    ...minimal,
    name: "together",
    baseURL: "https://api.together.xyz/v1",
    keyName: "TOGETHER_API_KEY",
    acceptsIdempotencyKey: true,
  },
  /** Ollama on this machine. */
  ollama: { ...minimal, name: "ollama", baseURL: "http://localhost:11434/v1" },
  /** vLLM on this machine. */
  vllm: { ...minimal, name: "vllm", baseURL: "http://localhost:8000/v1" },
  /** llama.cpp, LM Studio or another server on this machine. */
  local: { ...minimal, name: "local", baseURL: "http://localhost:8080/v1" },
};
