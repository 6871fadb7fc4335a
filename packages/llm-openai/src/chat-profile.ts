import type { WireDialect } from "@moora/llm";

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
  readonly callIds?: WireDialect;
  readonly tokenField: "max_tokens" | "max_completion_tokens";
  readonly systemRole: "system" | "developer";
  /** Who speaks a note in the middle of a conversation; many templates know no second system message. */
  readonly noteRole: "system" | "developer" | "user";
  /** Whether user and assistant have to take turns, so that neighbours are merged. */
  readonly takesTurns: boolean;
  /** Whether a user message may directly follow tool results. */
  readonly userAfterResults: boolean;
  /** The field in which reasoning goes back with the turn it belongs to; missing where it does not. */
  readonly reasoningField?: string;
  /** Whether it enforces schemas with `strict: true`. */
  readonly strict: boolean;
  /** When it takes the schema of an answer: some cannot have it together with tools, some do not know it. */
  readonly formats: "always" | "without-tools" | "never";
  /** Whether it takes PDF files as OpenAI does. */
  readonly takesPdf: boolean;
  /** Whether it takes an `idempotency-key` header, also from a browser. */
  readonly takesIdempotencyKey: boolean;
  /** Fields that have another name here, or are left out. */
  readonly fields: Readonly<Partial<Record<ChatField, string | false>>>;
}

/** A server that nothing is known of: the least that all of them take. */
const modest = {
  tokenField: "max_tokens",
  systemRole: "system",
  noteRole: "user",
  takesTurns: true,
  userAfterResults: true,
  strict: false,
  formats: "without-tools",
  takesPdf: false,
  takesIdempotencyKey: false,
  fields: { prompt_cache_key: false },
} as const;

const open = { ...modest, noteRole: "system", takesTurns: false, takesIdempotencyKey: true } as const;

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
    ...open,
    name: "openai-chat",
    baseURL: "https://api.openai.com/v1",
    keyName: "OPENAI_API_KEY",
    tokenField: "max_completion_tokens",
    systemRole: "developer",
    noteRole: "developer",
    strict: true,
    formats: "always",
    takesPdf: true,
    fields: {},
  },
  openrouter: {
    ...open,
    name: "openrouter",
    baseURL: "https://openrouter.ai/api/v1",
    keyName: "OPENROUTER_API_KEY",
    noteRole: "user",
    formats: "always",
    takesPdf: true,
  },
  groq: {
    ...open,
    name: "groq",
    baseURL: "https://api.groq.com/openai/v1",
    keyName: "GROQ_API_KEY",
    tokenField: "max_completion_tokens",
    formats: "never",
    fields: { ...open.fields, logprobs: false },
  },
  deepseek: {
    ...modest,
    name: "deepseek",
    baseURL: "https://api.deepseek.com/v1",
    keyName: "DEEPSEEK_API_KEY",
    formats: "never",
    takesIdempotencyKey: true,
    reasoningField: "reasoning_content",
    fields: { ...modest.fields, seed: false, parallel_tool_calls: false },
  },
  mistral: {
    ...modest,
    name: "mistral",
    baseURL: "https://api.mistral.ai/v1",
    keyName: "MISTRAL_API_KEY",
    takesIdempotencyKey: true,
    callIds: { pattern: /^[A-Za-z0-9]{9}$/, length: 9 },
    userAfterResults: false,
    fields: { ...modest.fields, seed: "random_seed", stream_options: false, logprobs: false },
  },
  together: {
    ...modest,
    name: "together",
    baseURL: "https://api.together.xyz/v1",
    keyName: "TOGETHER_API_KEY",
    takesIdempotencyKey: true,
  },
  /** Ollama on this machine. */
  ollama: { ...modest, name: "ollama", baseURL: "http://localhost:11434/v1" },
  /** vLLM on this machine. */
  vllm: { ...modest, name: "vllm", baseURL: "http://localhost:8000/v1" },
  /** llama.cpp, LM Studio and whatever else serves a model on this machine. */
  local: { ...modest, name: "local", baseURL: "http://localhost:8080/v1" },
};
