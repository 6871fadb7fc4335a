import type { LlmMessage, LlmRequest, LlmTool, LlmTurn } from "../../request.ts";
import type { ScriptedAnswer } from "./harness.ts";

/** A tool that adds two numbers. */
export const toolOf = (name: string): LlmTool => ({
  name,
  description: "Adds two numbers.",
  schema: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
    additionalProperties: false,
  },
});

/** The same tool with a schema that providers do not take as it is: a union, with a reference into one of its branches. */
const unionTool = (name: string): LlmTool => {
  const { schema, ...tool } = toolOf(name);
  const b = { $ref: "#/oneOf/0/properties/b" };
  return { ...tool, schema: { oneOf: [schema, { type: "object", properties: { b }, required: ["b"] }] } };
};

/** A user message with one text. */
export const userMessage = (text: string): LlmMessage => ({
  role: "user",
  content: [{ type: "text", text }],
});

/** A request for one short answer. */
export const requestOf = (overrides: Partial<LlmRequest> = {}): LlmRequest => ({
  purpose: "plan",
  model: "model-a",
  system: "Answer briefly.",
  messages: [userMessage("What is 1 + 2?")],
  tools: [],
  toolChoice: "auto",
  parallelToolCalls: true,
  settings: {},
  ...overrides,
});

/** A request with two tools. */
export const requestWithTools = (overrides: Partial<LlmRequest> = {}): LlmRequest =>
  requestOf({ tools: [toolOf("add"), unionTool("multiply")], ...overrides });

/** The message of a turn with the results of its calls. */
export const turnWithResults = (turn: LlmTurn, ...results: readonly string[]): LlmMessage => ({
  role: "assistant",
  turn,
  results: results.map((content) => ({ isError: false, content })),
});

/** A turn of another origin, without raw parts. */
export const turnOfCalls = (...calls: readonly { id: string; arguments?: string }[]): LlmTurn => ({
  origin: "another-origin",
  parts: calls.map(({ id, arguments: text = '{"a":1,"b":2}' }) => ({
    type: "tool-call",
    id,
    name: "add",
    arguments: text,
  })),
});

/** An answer with text in these chunks. */
export const text = (...pieces: readonly string[]): ScriptedAnswer => ({ text: pieces });

/** An answer with text, then two calls of two chunks each. */
export const twoCalls: ScriptedAnswer = {
  text: ["Let me ", "compute."],
  calls: [
    { name: "add", arguments: ['{"a":1', ',"b":2}'] },
    { name: "multiply", arguments: ['{"a":3', ',"b":4}'] },
  ],
};
