import type { IdFormat } from "@moora/llm/adapter";

/** Settings that a server may know by another name, or not at all. */
export type ChatField =
  | "seed"
  | "stop"
  | "logprobs"
  | "parallel_tool_calls"
  | "prompt_cache_key"
  | "reasoning_effort"
  | "stream_options";

/** In what a server that speaks Chat Completions differs from the others. */
export interface ChatProfile {
  /** The caller's name, and the name under which `providerOptions` name fields of this server. */
  readonly name: string;
  readonly baseURL: string;
  /** The variable that holds the key; missing where none is needed. */
  readonly keyName?: string;
  /** What it takes as the id of a tool call. Default: `^[A-Za-z0-9_-]{1,64}$`. */
  readonly callIdFormat?: IdFormat;
  readonly tokenField: "max_tokens" | "max_completion_tokens";
  readonly systemRole: "system" | "developer";
  /** Who speaks a note in the middle of a conversation; many templates know no second system message. */
  readonly noteRole: "system" | "developer" | "user";
  /** Whether user and assistant have to take turns, so that neighbours are merged. */
  readonly requiresAlternation: boolean;
  /** Whether a user message may directly follow tool results. */
  readonly allowsUserAfterResults: boolean;
  /** The field in which reasoning goes back with the turn it belongs to; missing where it does not. */
  readonly reasoningField?: string;
  /** Whether it enforces schemas with `strict: true`. */
  readonly strict: boolean;
  /** When it takes the schema of an answer: some cannot have it together with tools, some do not know it. */
  readonly answerFormat: "always" | "without-tools" | "never";
  /** Whether it takes PDF files as OpenAI does. */
  readonly acceptsPdf: boolean;
  /** Whether it takes an `idempotency-key` header, also from a browser. */
  readonly acceptsIdempotencyKey: boolean;
  /** Fields that have another name here, or are left out. */
  readonly fields: Readonly<Partial<Record<ChatField, string | false>>>;
}

/** A server that nothing is known of: the least that all of them take. */
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

const permissive = {
  ...minimal,
  noteRole: "system",
  requiresAlternation: false,
  acceptsIdempotencyKey: true,
} as const;

export type ChatProfileName =
  | "openai"
  | "openrouter"
  | "groq"
  | "deepseek"
  | "mistral"
  | "together"
  | "ollama"
  | "vllm"
  | "local";

/** Servers that speak Chat Completions. Any other one: `{ ...chatProfiles.local, name, baseURL, keyName }`. */
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
    fields: { ...minimal.fields, seed: false, parallel_tool_calls: false },
  },
  mistral: {
    ...minimal,
    name: "mistral",
    baseURL: "https://api.mistral.ai/v1",
    keyName: "MISTRAL_API_KEY",
    acceptsIdempotencyKey: true,
    callIdFormat: { pattern: /^[A-Za-z0-9]{9}$/, length: 9 },
    allowsUserAfterResults: false,
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
  /** llama.cpp, LM Studio and whatever else serves a model on this machine. */
  local: { ...minimal, name: "local", baseURL: "http://localhost:8080/v1" },
};
