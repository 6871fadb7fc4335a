import type { LlmRequest } from "@moora/llm";

/**
 * A request that contains one of everything, for tests that compare the whole body of a request. `reasoning` is the
 * reasoning part of its assistant turn, which comes from `origin`.
 */
export const exampleRequest = (
  origin: string,
  reasoning: { readonly text: string; readonly raw: object },
): LlmRequest => ({
  purpose: "plan",
  model: "some-model",
  system: "You are a clerk.",
  messages: [
    { role: "user", content: [{ type: "text", text: "What is the weather in Oslo, and in Turin?" }] },
    {
      role: "assistant",
      turn: {
        origin,
        parts: [
          { type: "reasoning", text: reasoning.text, raw: JSON.parse(JSON.stringify(reasoning.raw)) },
          { type: "text", text: "Let me look." },
          { type: "tool-call", id: "1", name: "weather", arguments: '{"city": "Oslo"}' },
          { type: "tool-call", id: "2", name: "weather", arguments: '{"city":' },
        ],
      },
      results: [
        { isError: false, content: '{"celsius":3}' },
        { isError: true, content: "the arguments are not JSON" },
      ],
    },
    { role: "note", text: "Two steps are left." },
    {
      role: "user",
      content: [
        { type: "text", text: "And here?" },
        { type: "file", file: { mediaType: "image/png", name: "map.png", data: "iVBORw0KGgo=" } },
      ],
    },
  ],
  tools: exampleTools,
  toolChoice: "auto",
  parallelToolCalls: true,
  answerSchema: {
    type: "object",
    properties: { celsius: { type: "number", minimum: -90 } },
    required: ["celsius"],
    additionalProperties: false,
  },
  settings: { maxOutputTokens: 500, reasoningEffort: "low" },
});

const exampleTools: LlmRequest["tools"] = [
  {
    name: "weather",
    description: "The weather in a city now.",
    schema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
    },
  },
  {
    name: "files/search",
    description: "",
    schema: {
      type: "object",
      properties: { query: { type: "string" }, limit: { type: "integer" } },
      required: ["query"],
    },
  },
];
