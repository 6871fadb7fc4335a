import type { Immutable } from "@moora/agent-webui-protocol";
import * as z from "zod/mini";
import { failureSchema } from "../failure.ts";
import { spendingSchema } from "../usage.ts";

/**
 * What a person is asked about a call: whether it may run (`approval`), what its outcome was (`outcome`), or the question
 * that the call itself contains (`answer`).
 */
const about = z.enum(["approval", "outcome", "answer"]);

/**
 * The status of an open call. `started` is the durable intent, `reportsUsage` that its host reports what it uses also after its end; `retrying` waits for its next attempt; `asking` binds to the
 * digest of what is shown; `due`, `remindAt` and `escalateAt` are times in milliseconds since 1970, or null; `reminder`
 * counts how often the question was shown again.
 */
const openCallStatusSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("queued") }),
  z.object({
    type: z.literal("running"),
    started: z.boolean(),
    reportsUsage: z.exactOptional(z.literal(true)),
  }),
  z.object({ type: z.literal("retrying"), due: z.number() }),
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
  /**
   * The reservation of this attempt, for a tool with `spends` under a budget. Released when the call is settled, or later by the report of
   * its usage.
   */
  reserved: z.exactOptional(spendingSchema),
  /** The number of failed attempts that were followed by another one; absent if there were none. */
  failures: z.exactOptional(z.number()),
  /** The number of attempts that ended with a question of the tool and were followed by another one; absent if there were none. */
  asked: z.exactOptional(z.number()),
  /** The number of questions asked about this call so far. */
  questions: z.number(),
  /** JSON text of the schema that its arguments were made for; absent if that is the schema of its tool. */
  madeFor: z.exactOptional(z.string()),
  status: openCallStatusSchema,
});

const calls = z.array(openCallSchema);

/** The fields of a state that calls a model. */
const llmCallFields = {
  /** Incremented by each failure, each interruption and each change of the request. */
  attempt: z.number(),
  /** The attempt that first sent the current request. Attempts with the same request have the same idempotency key. */
  request: z.number(),
  /** How often this call was interrupted by a restart. */
  interruptions: z.number(),
  /** Whether the intent to make the call is durable. */
  started: z.boolean(),
  /** The limit of the answer that the budget sets, in tokens; null if there is none. Fixed with the request. */
  maxOutputTokens: z.nullable(z.number()),
};

/** A control state with its own data. */
export const controlSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("Idle") }),
  z.object({
    type: z.literal("Planning"),
    ...llmCallFields,
    /** The number of failed attempts of this step. */
    failures: z.number(),
    /** When the next attempt is due, in milliseconds since 1970; null unless a retry is scheduled. */
    retryAt: z.nullable(z.number()),
    /** The id of the message that is being streamed; null if there is none. */
    messageId: z.nullable(z.string()),
    /** The index in `messages` for the answer: after the messages that its request contained. */
    messagesSeen: z.number(),
    /** The request has this loop alone, to find whether an older message is the cause of a failure. */
    alone: z.exactOptional(z.literal(true)),
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
    /** The event that led to this state. */
    event: z.string(),
    attempt: z.number(),
    /** Whether the intent to run the handler is durable. */
    started: z.boolean(),
    calls,
  }),
]);

/** The status of an open call: queued, running, retrying later, probing for its outcome, or asking a person. */
export type OpenCallStatus = Immutable<z.infer<typeof openCallStatusSchema>>;
/** A tool call of the current turn that has no result yet. */
export type OpenCall = Immutable<z.infer<typeof openCallSchema>>;
/** The status of a call that asks a person. */
export type AskingStatus = Extract<OpenCallStatus, { type: "asking" }>;
/** The current state of an agent in its control graph, with the data of that state. */
export type Control = Immutable<z.infer<typeof controlSchema>>;
/** The type of a control state. All custom states have the type `Custom`. */
export type ControlType = Control["type"];
/** A control state of a given type, with its data. */
export type ControlOf<Type extends ControlType> = Extract<Control, { type: Type }>;
