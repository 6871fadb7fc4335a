import * as z from "zod/mini";
import type { Immutable } from "./immutable.ts";

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
