import * as z from "zod/mini";
import type { Immutable } from "./immutable.ts";
import type { Progress } from "./piece.ts";

const count = z.int().check(z.nonnegative());
const optionalText = z.exactOptional(z.string());
const part = z.exactOptional(count);

/**
 * The schema of a chunk (`event: chunk`): what a model or a tool streams. No log has it. `text` begins at `offset` of the
 * message, of all its reasoning, or of the arguments of the call, and replaces what follows there, so that a chunk may repeat an
 * earlier one. A stream begins with what the model has written so far; a reader ignores a chunk whose `offset` is beyond what it has:
 * chunks before it were lost. `part` numbers the parts of an answer, from 0 in the order in which they start. `toolCallId` is the id that
 * a call gets if the turn is accepted.
 */
export const chunkEventSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), messageId: z.string(), part, offset: count, text: z.string() }),
  z.object({ type: z.literal("reasoning"), messageId: z.string(), part, offset: count, text: z.string() }),
  z.object({
    type: z.literal("tool-call"),
    messageId: z.string(),
    toolCallId: optionalText,
    name: z.string(),
  }),
  z.object({
    type: z.literal("tool-call-delta"),
    messageId: z.string(),
    toolCallId: z.string(),
    offset: count,
    text: z.string(),
  }),
  z.object({ type: z.literal("part-end"), messageId: z.string(), part: count, toolCallId: optionalText }),
  z.object({ type: z.literal("tool-progress"), toolCallId: z.string(), text: z.string() }),
  /** A sub-agent asks: the session does not have its records. `path` is the calls that lead to it. */
  z.object({
    type: z.literal("question"),
    path: z.array(z.string()),
    toolCallId: z.string(),
    digest: z.string(),
    about: z.enum(["approval", "outcome", "answer"]),
    name: z.string(),
    /** The arguments of the call, what its tool asks, and when the question expires, in milliseconds since 1970. */
    parameters: z.unknown(),
    question: optionalText,
    /** The JSON text of the JSON Schema of the answer. */
    answerSchema: optionalText,
    /** How much harm the call can do, and why a person is asked. */
    risk: z.exactOptional(z.enum(["low", "medium", "high", "critical"])),
    reason: z.enum(["policy", "risk", "predicate", "tool", "question", "interrupted"]),
    due: z.nullable(z.number()),
    /** How often the question was shown again, and whether it was passed on to other reviewers. */
    reminder: count,
    escalated: z.boolean(),
  }),
  /** A question of a sub-agent that this stream has shown is no longer open. */
  z.object({ type: z.literal("question-closed"), path: z.array(z.string()), toolCallId: z.string() }),
  z.object({ type: z.literal("warning"), text: z.string() }),
]);

/** A chunk of a stream. */
export type ChunkEvent = Immutable<z.infer<typeof chunkEventSchema>>;

const isStreamed: Readonly<Record<Progress["type"], true>> = {
  LlmToken: true,
  LlmReasoning: true,
  LlmToolCall: true,
  LlmToolCallDelta: true,
  LlmPartEnded: true,
  LlmWarning: true,
  ToolCallProgress: true,
};

/** Whether an event of a session is what an effect streams, which no record has. */
export const isProgress = (event: { readonly type: string }): event is Progress =>
  Object.hasOwn(isStreamed, event.type);

/** The chunk of what an effect streams. */
export function progressToChunk(progress: Progress): ChunkEvent {
  switch (progress.type) {
    case "LlmToken":
      return { ...progress, type: "text" };
    case "LlmReasoning":
      return { ...progress, type: "reasoning" };
    case "LlmToolCall":
      return { ...progress, type: "tool-call" };
    case "LlmToolCallDelta":
      return { ...progress, type: "tool-call-delta" };
    case "LlmPartEnded":
      return { ...progress, type: "part-end" };
    case "ToolCallProgress":
      return { ...progress, type: "tool-progress" };
    case "LlmWarning":
      return { ...progress, type: "warning" };
  }
}

/** What an effect has streamed, of its chunk; undefined for a question, and for a chunk of a later release. */
export function chunkToProgress(chunk: ChunkEvent): Progress | undefined {
  switch (chunk.type) {
    case "text":
      return { ...chunk, type: "LlmToken" };
    case "reasoning":
      return { ...chunk, type: "LlmReasoning" };
    case "tool-call":
      return { ...chunk, type: "LlmToolCall" };
    case "tool-call-delta":
      return { ...chunk, type: "LlmToolCallDelta" };
    case "part-end":
      return { ...chunk, type: "LlmPartEnded" };
    case "tool-progress":
      return { ...chunk, type: "ToolCallProgress" };
    case "warning":
      return { ...chunk, type: "LlmWarning" };
    case "question":
    case "question-closed":
      return undefined;
  }
  // A chunk of a later release.
  return undefined;
}
