import type { Immutable } from "@moora/agent-webui-protocol";
import * as z from "zod/mini";
import { failureSchema } from "../failure.ts";
import { spendingSchema } from "../usage.ts";

/**
 * Why a person is asked about a call: may it run (`approval`), what was its outcome (`outcome`), or the call is itself a
 * question to the person (`answer`).
 */
const about = z.enum(["approval", "outcome", "answer"]);

/**
 * The status of an open call. `started` is the durable intent; `asking` binds to the digest of what is shown; `due`,
 * `remindAt` and `escalateAt` are times in milliseconds since 1970, or null; `reminder` counts how often the question was
 * shown again.
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
  /** Whether an earlier attempt was started and may have had its effect. */
  mayHaveRun: z.boolean(),
  /** What this attempt may spend, for a tool that declares `spends` under a budget; released when the call is settled. */
  reserved: z.exactOptional(spendingSchema),
  /** Questions asked about this call so far. */
  questions: z.number(),
  status: openCallStatusSchema,
});

const calls = z.array(openCallSchema);

/** What a state that calls a model records of the call. */
const llmCallFields = {
  /** Grows with each failure, each interruption and each change of the request. */
  attempt: z.number(),
  /** The attempt that first made the present request: equal requests have an equal idempotency key. */
  request: z.number(),
  /** How often this call was interrupted by a restart. */
  interruptions: z.number(),
  /** The durable intent. */
  started: z.boolean(),
  /** Limit of the answer, in tokens, from what the budget leaves; null without a budget. Fixed with the request. */
  maxOutputTokens: z.nullable(z.number()),
};

/** A control state with its own data: a wait that cannot be answered cannot be written. */
export const controlSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("Idle") }),
  z.object({
    type: z.literal("Planning"),
    ...llmCallFields,
    /** Failed attempts of this step. */
    failures: z.number(),
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
    /** The part of the transcript that the summary replaces. */
    since: z.number(),
    covers: z.number(),
    ...llmCallFields,
  }),
  z.object({ type: z.literal("Done"), answer: z.string() }),
  z.object({ type: z.literal("Error"), failure: failureSchema }),
  z.object({
    type: z.literal("Custom"),
    name: z.string(),
    entry: z.number(),
    /** The event that led here. */
    event: z.string(),
    attempt: z.number(),
    /** Whether the handler was started: the durable intent. */
    started: z.boolean(),
    calls,
  }),
]);

/** How far an open call is: queued, running, probing for a lost outcome, or asking a person. */
export type OpenCallStatus = Immutable<z.infer<typeof openCallStatusSchema>>;
/** A tool call of the present turn that has no result yet. */
export type OpenCall = Immutable<z.infer<typeof openCallSchema>>;
/** The status of a call that asks a person. */
export type AskingStatus = Extract<OpenCallStatus, { type: "asking" }>;
/** Where the agent is in its control graph, with the data of that state. */
export type Control = Immutable<z.infer<typeof controlSchema>>;
/** The type of a control state. All custom states have the type `Custom`. */
export type ControlType = Control["type"];
/** A control state of a given type, with its data. */
export type ControlOf<Type extends ControlType> = Extract<Control, { type: Type }>;
