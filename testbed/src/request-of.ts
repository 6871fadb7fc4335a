import type { LlmRequest } from "@moora/llm";

/** A request for one short answer, to the model of its caller. */
export const requestOf = (overrides: Partial<LlmRequest> = {}): LlmRequest => ({
  purpose: "plan",
  model: "",
  system: "",
  messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
  tools: [],
  toolChoice: "auto",
  parallelToolCalls: true,
  settings: {},
  ...overrides,
});
