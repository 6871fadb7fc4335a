import type { LlmCallOptions, LlmChunk } from "../../caller.ts";
import type { LlmMessage, LlmRequest, LlmTool, LlmTurn } from "../../request.ts";
import type { ScriptedAnswer } from "./harness.ts";

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

export const userMessage = (text: string): LlmMessage => ({
  role: "user",
  content: [{ type: "text", text }],
});

export const requestOf = (known: Partial<LlmRequest> = {}): LlmRequest => ({
  purpose: "plan",
  model: "model-a",
  system: "Answer briefly.",
  messages: [userMessage("What is 1 + 2?")],
  tools: [],
  toolChoice: "auto",
  parallelToolCalls: true,
  settings: {},
  ...known,
});

export const requestWithTools = (known: Partial<LlmRequest> = {}): LlmRequest =>
  requestOf({ tools: [toolOf("add"), toolOf("multiply")], ...known });

/** A turn with the results of its calls, as it goes back. */
export const turnWithResults = (turn: LlmTurn, ...results: readonly string[]): LlmMessage => ({
  role: "assistant",
  turn,
  results: results.map((content) => ({ isError: false, content })),
});

/** A turn of somebody else, which knows no raw parts. */
export const turnOfCalls = (...calls: readonly { id: string; arguments?: string }[]): LlmTurn => ({
  origin: "elsewhere",
  parts: calls.map(({ id, arguments: text = '{"a":1,"b":2}' }) => ({
    type: "tool-call",
    id,
    name: "add",
    arguments: text,
  })),
});

export const text = (...pieces: readonly string[]): ScriptedAnswer => ({ text: pieces });

/** Text, then two calls of two pieces each. */
export const twoCalls: ScriptedAnswer = {
  text: ["Let me ", "compute."],
  calls: [
    { name: "add", arguments: ['{"a":1', ',"b":2}'] },
    { name: "multiply", arguments: ['{"a":3', ',"b":4}'] },
  ],
};

/** Long enough for anything on one machine. */
export const longTimeouts: LlmCallOptions = { firstChunkTimeoutMs: 20_000, idleTimeoutMs: 20_000 };

/** Keeps what is streamed. */
export function collectChunks(): {
  readonly chunks: LlmChunk[];
  readonly onChunk: (chunk: LlmChunk) => void;
} {
  const chunks: LlmChunk[] = [];
  return { chunks, onChunk: (chunk) => void chunks.push(chunk) };
}

/** What was streamed of one kind, joined. */
export const streamedText = (chunks: readonly LlmChunk[], type: "text" | "reasoning"): string =>
  chunks.map((chunk) => (chunk.type === type ? chunk.text : "")).join("");
