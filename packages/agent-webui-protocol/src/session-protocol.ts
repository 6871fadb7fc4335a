import * as z from "zod/mini";
import type { Immutable } from "./immutable.ts";
import { agentAttachmentSchema } from "./message.ts";

/**
 * The version of the protocol between a server of sessions and its clients. A client may send it in the header
 * `moora-protocol`; a server sends it with each response. It changes when a client of the version before cannot continue.
 */
export const protocolVersion = 1;

const id = z.string().check(z.minLength(1), z.maxLength(200));
const seq = z.int().check(z.nonnegative());
const optionalText = z.exactOptional(z.string());
const given = z.unknown().check(z.refine((value) => value !== undefined, "is missing"));

/** The schema of the body that posts a message of the user. */
export const messageBodySchema = z.strictObject({
  content: z.string(),
  attachments: z.exactOptional(z.array(agentAttachmentSchema).check(z.maxLength(100))),
});

/**
 * The schema of a decision: `"approve"`, `{ approve }` with changed arguments, `{ reject }` with a reason, `{ answer }`, or
 * the outcome of an interrupted call.
 */
export const decisionSchema = z.union([
  z.literal("approve"),
  z.strictObject({ reject: z.string() }),
  z.strictObject({ approve: given }),
  z.strictObject({ answer: given }),
  z.strictObject({ outcome: z.literal("run-again") }),
  z.strictObject({ outcome: z.literal("worked"), result: given }),
  z.strictObject({ outcome: z.enum(["failed", "unknown"]), reason: optionalText }),
]);

/**
 * The schema of the body that answers a question. `digest` is that of the question, `path` the calls that lead to the sub-agent
 * that asks; the reviewer is the authenticated user and not a part of the body.
 */
export const decisionBodySchema = z.strictObject({
  toolCallId: id,
  digest: id,
  path: z.exactOptional(z.array(id).check(z.maxLength(100))),
  decision: decisionSchema,
});

/** The schema of the body that cancels the running loop. */
export const cancelBodySchema = z.strictObject({ reason: optionalText });

/** The schema of the body that pauses a session. */
export const pauseBodySchema = z.strictObject({ reason: optionalText });

const scheduleId = z.string().check(z.minLength(1), z.maxLength(200));

/**
 * The schema of the body that sets a schedule: when, by one of `at`, `everyMs` and `cron`, and the message. `at` is in milliseconds since
 * 1970 or in ISO 8601 with an offset.
 */
export const scheduleBodySchema = z.strictObject({
  id: z.exactOptional(scheduleId),
  at: z.exactOptional(z.union([z.number(), z.string()])),
  everyMs: z.exactOptional(z.number()),
  cron: z.exactOptional(z.string()),
  timeZone: z.exactOptional(z.string()),
  message: z.string(),
  missed: z.exactOptional(z.enum(["once", "skip"])),
});

/** The schema of the body that removes a schedule. */
export const unscheduleBodySchema = z.strictObject({ id: scheduleId });

/** The schema of the body of a post that needs no fields: a retry of the loop, or the end of a pause. */
export const emptyBodySchema = z.strictObject({});

/** The schema of the body that forks a session. `at` is the last record that the fork has; 0 for none. Default: the newest one. */
export const forkBodySchema = z.strictObject({ at: z.exactOptional(seq) });

const path = z.string();

/**
 * The schema of one operation of JSON Patch (RFC 6902) on application data. A `test` that does not hold refuses all; it is the
 * only one that may concern the data as a whole, with the path "".
 */
export const dataOperationSchema = z.discriminatedUnion("op", [
  z.strictObject({ op: z.literal("add"), path, value: given }),
  z.strictObject({ op: z.literal("replace"), path, value: given }),
  z.strictObject({ op: z.literal("test"), path, value: given }),
  z.strictObject({ op: z.literal("remove"), path }),
]);

/** How many operations one change of the application data may have. */
export const maxDataOperations = 1_000;

/**
 * The schema of the body that changes the application data: its operations apply together, or not at all. With `base` they apply
 * only to the data as it was after record `seq`; `incarnation` and `digest` are those of a view at that record. Servers of older
 * releases refuse `base` as an unknown field.
 */
export const dataBodySchema = z.strictObject({
  patches: z.array(dataOperationSchema).check(z.minLength(1), z.maxLength(maxDataOperations)),
  base: z.exactOptional(z.strictObject({ seq, incarnation: optionalText, digest: optionalText })),
});

/**
 * The schema of the answer to a post. `accepted`: the input is durable as record `seq`. `ignored`: it did not apply, for this
 * reason; `decidedBy` names the reviewer who had decided before.
 */
export const receiptSchema = z.discriminatedUnion("status", [
  z.object({ status: z.literal("accepted"), seq }),
  z.object({ status: z.literal("ignored"), reason: z.string(), decidedBy: optionalText }),
]);

/** The schema of an error: problem details (RFC 9457). `code` is stable; `path` names the invalid field of a body. */
export const problemSchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.string(),
  detail: optionalText,
  path: optionalText,
  /**
   * The last record of the session, for a cursor that is beyond it. For `data-changed` the record from which on a change may be
   * based on the data.
   */
  seq: z.exactOptional(seq),
});

/**
 * The schema of a session in a list. `seq` is its last record, and `updatedAt` the time of that record, in milliseconds since 1970.
 * `title` is the text `title` of its application data, else the beginning of its first message, with escapes for hidden characters.
 * `state` has the name of its control state, and the number of its open questions. `cost` is that of its model calls, where their
 * prices are known. A list does not have what it would be too much to read, and the answer to a creation and servers of older
 * releases have none of them.
 */
export const sessionSummarySchema = z.object({
  id,
  agent: z.string(),
  seq,
  updatedAt: z.exactOptional(z.number()),
  title: optionalText,
  state: z.exactOptional(z.object({ control: z.string(), questions: z.int() })),
  cost: z.exactOptional(z.number()),
});

/** The schema of one page of a list of sessions. `next` is the cursor of the next page; null for the last one. */
export const sessionPageSchema = z.object({
  sessions: z.array(sessionSummarySchema),
  next: z.nullable(z.string()),
});

/** The schema of an open question, without its details. A decision repeats its `toolCallId`, `digest` and `path`. */
const questionSchema = z.looseObject({
  toolCallId: z.string(),
  digest: z.string(),
  about: z.string(),
  path: z.exactOptional(z.array(z.string())),
});

/**
 * The schema of a session at one of its records. `user` is the user of the request. `state` is the state of
 * `@moora/agent-core-state-machine`; `questions` are open and can be decided. `incarnation` and `digest` identify the history up to
 * `seq` for a stream that begins after it: `digest` is `digestOf` of the canonical JSON of the input of record `seq`, "" before the
 * first record. A view with `?at=SEQ` and servers of older releases do not have them.
 */
export const sessionViewSchema = z.object({
  id,
  agent: z.string(),
  user: z.string(),
  seq,
  state: z.looseObject({}),
  questions: z.array(questionSchema),
  incarnation: optionalText,
  digest: optionalText,
});

/**
 * The schema of a durable event of a stream (`event: input`): record `seq` of the session, whose input `parseInput` of
 * `@moora/agent-core-state-machine` reads.
 */
export const inputEventSchema = z.object({
  seq,
  input: z.looseObject({ type: z.string(), timestamp: z.number() }),
});

/** The body that posts a message. */
export type MessageBody = Immutable<z.infer<typeof messageBodySchema>>;
/** The body that answers a question. */
export type DecisionBody = z.infer<typeof decisionBodySchema>;
/** The body that cancels the running loop. */
export type CancelBody = Immutable<z.infer<typeof cancelBodySchema>>;
/** The body that pauses a session. */
export type PauseBody = Immutable<z.infer<typeof pauseBodySchema>>;
/** The body that sets a schedule. */
export type ScheduleBody = Immutable<z.infer<typeof scheduleBodySchema>>;
/** The body that removes a schedule. */
export type UnscheduleBody = Immutable<z.infer<typeof unscheduleBodySchema>>;
/** The body that forks a session. */
export type ForkBody = Immutable<z.infer<typeof forkBodySchema>>;
/** One operation on application data. */
export type DataOperation = z.infer<typeof dataOperationSchema>;
/** The body that changes application data. */
export type DataBody = z.infer<typeof dataBodySchema>;
/** The answer to a post. */
export type PostReceipt = Immutable<z.infer<typeof receiptSchema>>;
/** An error of a server. */
export type Problem = Immutable<z.infer<typeof problemSchema>>;
/** A session in a list. */
export type SessionSummary = Immutable<z.infer<typeof sessionSummarySchema>>;
/** One page of a list of sessions. */
export type SessionPage = Immutable<z.infer<typeof sessionPageSchema>>;
/** A durable event of a stream. */
export type InputEvent = z.infer<typeof inputEventSchema>;
