import type { Immutable } from "@moora/agent-webui-protocol";
import * as z from "zod/mini";

/** Why a human is asked: may it run, what happened to it, or the call is a question to the human itself. */
const about = z.enum(["approval", "outcome", "answer"]);

/**
 * Where an open call stands. `started` is the durable intent; `asking` binds to the digest of what is shown; `due`,
 * `remindAt` and `escalateAt` are times in milliseconds since 1970, or null; `reminder` counts how often it was shown
 * again.
 */
const openCallStatusSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("queued") }),
  z.object({ type: z.literal("running"), started: z.boolean() }),
  z.object({ type: z.literal("probing") }),
  z.object({
    type: z.literal("asking"),
    about,
    question: z.number(),
    digest: z.string(),
    due: z.nullable(z.number()),
    reminder: z.number(),
    remindAt: z.nullable(z.number()),
    escalateAt: z.nullable(z.number()),
    escalated: z.boolean(),
  }),
]);

const openCallSchema = z.object({
  id: z.string(),
  attempt: z.number(),
  /** Questions asked about this call so far. */
  questions: z.number(),
  status: openCallStatusSchema,
});

/** `kind` is an event of the table (`MaxSteps`), a kind of model failure (`auth`) or a bug of the graph. */
const failureSchema = z.object({
  kind: z.string(),
  message: z.string(),
  from: z.exactOptional(z.string()),
  event: z.exactOptional(z.string()),
});

const calls = z.array(openCallSchema);

/** A control state with its own data: a wait that cannot be answered cannot be written. */
export const controlSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("Idle") }),
  z.object({
    type: z.literal("Planning"),
    /** Grows with each failure and each interruption; `interruptions` counts the latter alone. */
    attempt: z.number(),
    interruptions: z.number(),
    started: z.boolean(),
    /** When the next attempt is due, while it is waited for. */
    retryAt: z.nullable(z.number()),
    /** The message that is being streamed. */
    messageId: z.nullable(z.string()),
    /** Where in `messages` its answer belongs: after what its request saw. */
    messagesSeen: z.number(),
  }),
  z.object({ type: z.literal("WaitingForHuman"), calls }),
  z.object({ type: z.literal("Acting"), calls }),
  z.object({ type: z.literal("ParallelActing"), calls }),
  z.object({ type: z.literal("Observing") }),
  z.object({
    type: z.literal("Reflecting"),
    cause: z.enum(["steps", "tokens", "low-confidence", "context-exceeded"]),
    /** The part of the transcript that the summary stands for. */
    since: z.number(),
    covers: z.number(),
    attempt: z.number(),
    started: z.boolean(),
  }),
  z.object({ type: z.literal("Done"), answer: z.string() }),
  z.object({ type: z.literal("Error"), failure: failureSchema }),
  z.object({ type: z.literal("Custom"), name: z.string(), entry: z.number(), calls }),
]);

export type OpenCallStatus = Immutable<z.infer<typeof openCallStatusSchema>>;
export type OpenCall = Immutable<z.infer<typeof openCallSchema>>;
export type AgentFailure = Immutable<z.infer<typeof failureSchema>>;
export type Control = Immutable<z.infer<typeof controlSchema>>;
export type ControlType = Control["type"];
/** A control state of a given type, with its data. */
export type ControlOf<Type extends ControlType> = Extract<Control, { type: Type }>;
