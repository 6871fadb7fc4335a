import type { LlmMessage, LlmPart, LlmRequest } from "@moora/llm";

export const requestOf = (known: Partial<LlmRequest> = {}): LlmRequest => ({
  purpose: "plan",
  model: "some-model",
  system: "Be brief.",
  messages: [userMessage("Hello")],
  tools: [],
  toolChoice: "auto",
  parallelToolCalls: true,
  settings: {},
  ...known,
});

export const userMessage = (...texts: readonly string[]): LlmMessage => ({
  role: "user",
  content: texts.map((text) => ({ type: "text", text })),
});

export const turnOf = (
  parts: readonly LlmPart[],
  results: readonly string[] = [],
  origin: string = "here",
): LlmMessage => ({
  role: "assistant",
  turn: { origin, parts },
  results: results.map((content) => ({ isError: false, content })),
});
