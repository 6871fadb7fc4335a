import { agentAttachmentSchema, type Immutable } from "@moora/agent-webui-protocol";
import * as z from "zod/mini";
import { modelFailureKinds } from "./failure.ts";
import { agentConfigChangeSchema } from "./config.ts";
import { jsonSchema } from "./json.ts";
import { observedTurnSchema, toolCallResultSchema, toolsSchema } from "./state.ts";
import { usageReportSchema } from "./usage.ts";
import { dataPatchSchema } from "./data/patches.ts";
import { handoffSchema } from "./handoff.ts";
import { replacementSchema } from "./replacement.ts";
import { newScheduleSchema } from "./schedule.ts";
import { traceNoteSchema } from "./trace-note.ts";

const id = z.string().check(z.minLength(1), z.maxLength(200));
const text = z.string();
const usage = z.exactOptional(usageReportSchema);
const key = z.exactOptional(z.string());
/** The id of the request of a caller, so that a repeated request is recognized in the log. The reducer ignores it. */
const requestId = z.exactOptional(id);

/** `parameters` is JSON text as the model wrote it; `digest` binds a decision to exactly these bytes. */
const observedToolCallSchema = z.object({
  name: text,
  parameters: text,
  calledAt: z.number(),
  digest: z.exactOptional(text),
  /** The result of the predicate of the approval policy. */
  needsApproval: z.exactOptional(z.boolean()),
  /** Why the arguments are invalid. The tool does not run, and the model reads this text. */
  problem: z.exactOptional(text),
});

/** The result of a turn: tool calls, or an answer. `problem` is the reason why an answer does not match its schema. */
const observationSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("continue-re-act"), toolCalls: z.record(id, observedToolCallSchema) }),
  z.object({
    type: z.literal("complete-re-act"),
    problem: z.exactOptional(text),
    /** No step is left for another answer, so that the problem ends the loop. */
    isLast: z.exactOptional(z.literal(true)),
  }),
]);

/** The fields of the intents: work is about to start. */
const intents = {
  "llm-call-started": { key: text },
  "tool-call-started": {
    toolCallId: id,
    attempt: z.number(),
    /** Whether this host reports what the call uses also after its end, for a tool with `spends`. */
    reportsUsage: z.exactOptional(z.literal(true)),
  },
  "state-handler-started": { key: text },
};

/** The work that begins with an input. It is part of the input, so that one record says both. */
const startSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("llm-call-started"), ...intents["llm-call-started"] }),
  z.object({ type: z.literal("tool-call-started"), ...intents["tool-call-started"] }),
  z.object({ type: z.literal("state-handler-started"), ...intents["state-handler-started"] }),
]);
const starts = z.exactOptional(z.array(startSchema));

/** Creates the schema of one type of input: its fields, with `type`, `timestamp` and what begins with it. */
const input = <const Type extends string, Fields extends z.core.$ZodShape>(type: Type, fields: Fields) =>
  z.object({ type: z.literal(type), ...fields, timestamp: z.number(), starts });

/** The schema of each type of input. */
export const inputSchemas = {
  "user-message-received": input("user-message-received", {
    messageId: id,
    content: text,
    attachments: z.exactOptional(z.array(agentAttachmentSchema)),
  }),
  /** The intent to call a model, durable before the call is made. An input of its own only if no other one makes it wanted. */
  "llm-call-started": input("llm-call-started", intents["llm-call-started"]),
  /** The host of a model call has ended. Its next attempt sends the same request. */
  "llm-call-interrupted": input("llm-call-interrupted", { key: text }),
  "llm-message-started": input("llm-message-started", { messageId: id, key }),
  /** A chunk for viewers: `text` starts at `offset` of the message. The reducer ignores it, and logs do not contain it. */
  "llm-chunk-received": input("llm-chunk-received", {
    messageId: id,
    text,
    offset: z.number(),
  }),
  "llm-message-completed": input("llm-message-completed", {
    messageId: id,
    content: text,
    key,
  }),
  "re-act-observed": input("re-act-observed", {
    calledLlmAt: z.number(),
    observation: observationSchema,
    key,
    turn: z.exactOptional(observedTurnSchema),
    messageId: z.exactOptional(id),
    usage,
    confidence: z.exactOptional(z.number()),
    finish: z.exactOptional(
      z.object({ unified: z.enum(["stop", "tool-calls", "length", "other"]), raw: text }),
    ),
    /** Which of several callers answered, and why. Only recorded. */
    answeredBy: z.exactOptional(z.object({ caller: text, model: text, reasons: z.array(text) })),
  }),
  "llm-call-failed": input("llm-call-failed", {
    key: text,
    failure: z.object({
      /** A failure of the model, or `NoPrice`: the budget limits costs, and the model has no price. */
      kind: z.enum([...modelFailureKinds, "NoPrice"]),
      message: text,
      retryable: z.boolean(),
      retryAfterMs: z.exactOptional(z.number().check(z.nonnegative())),
      /** When the provider accepts the next request, where that is too late for this loop. */
      retryAt: z.exactOptional(z.number()),
      /** The origin that refused the content of the request, so that it must not be sent again unchanged. */
      refusedBy: z.exactOptional(text),
      /** It speaks of files, so that these are left out first. */
      blamesFiles: z.exactOptional(z.literal(true)),
    }),
    usage,
    /** The text that had been streamed before the failure. */
    partial: z.exactOptional(text),
  }),
  "history-reflected": input("history-reflected", {
    key: text,
    summary: text,
    usage,
  }),
  /** The intent to run a tool, durable before it runs. */
  "tool-call-started": input("tool-call-started", intents["tool-call-started"]),
  "tool-call-completed": input("tool-call-completed", {
    toolCallId: id,
    result: toolCallResultSchema,
    key,
    /** Whether the failed call may be repeated, if its tool has `retries`: it ended with an exception or a timeout. */
    retryable: z.exactOptional(z.literal(true)),
    /** The usage of the models that the tool called. */
    usage,
    /** The changes of the application data by this call. They apply with the result, or not at all. */
    patches: z.exactOptional(z.array(dataPatchSchema)),
    /**
     * The call hands the conversation over, which applies with the result, or the call fails. Without effect in a result that
     * is not a success. Such an input has no patches.
     */
    handoff: z.exactOptional(handoffSchema),
    /** The result is not that of the tool, which may still run: a `usage-reported` follows with what it uses. */
    usageFollows: z.exactOptional(z.literal(true)),
  }),
  /** The tool asks a person in the middle of the call. With the reply, the call runs again. */
  "tool-call-asked": input("tool-call-asked", {
    toolCallId: id,
    key: text,
    question: text,
    /** JSON text of the JSON Schema of the answer. */
    answerSchema: z.exactOptional(text),
    /** What the tool is given again with the reply. */
    state: jsonSchema,
    /**
     * Binds the reply to this question. Covers the session, the call, its attempt and what is asked. Another one than those of
     * earlier questions of the call, which the reducer does not compare: else a late answer to one of them would count.
     */
    digest: text,
    usage,
  }),
  "tool-call-interrupted": input("tool-call-interrupted", {
    toolCallId: id,
    attempt: z.number(),
    outcome: z.enum(["unknown", "not-run"]),
  }),
  /**
   * The decision of a person. On an approval: `approved`, `rejected`, `modified`. On a question of the agent: `answered`,
   * `rejected`. On an unknown outcome: `run-again`, `worked` with its result, `failed`, `unknown`.
   */
  "tool-call-decided": input("tool-call-decided", {
    toolCallId: id,
    digest: text,
    by: text,
    reason: z.exactOptional(text),
    decision: z.discriminatedUnion("type", [
      z.object({ type: z.literal("approved") }),
      z.object({ type: z.literal("rejected") }),
      z.object({ type: z.literal("modified"), parameters: text, digest: z.exactOptional(text) }),
      z.object({ type: z.literal("answered"), content: text }),
      z.object({ type: z.literal("run-again") }),
      z.object({ type: z.literal("worked"), content: text }),
      z.object({ type: z.literal("failed") }),
      z.object({ type: z.literal("unknown") }),
    ]),
    requestId,
  }),
  /** A wait is over. The key identifies the wait; the timestamp is only recorded. */
  "deadline-passed": input("deadline-passed", {
    key: text,
    /** When the schedule of this wait is due next. Without it the schedule ends. */
    next: z.exactOptional(z.number()),
    /** The time of the schedule was missed, and is skipped: there is no message. */
    missed: z.exactOptional(z.literal(true)),
    /** Why the schedule has no next time, if it could not be computed. */
    problem: z.exactOptional(text),
  }),
  /** A schedule is set, in place of an open one with this id, or removed: null. The host has computed when it is due. */
  "schedule-changed": input("schedule-changed", {
    scheduleId: id,
    schedule: z.nullable(newScheduleSchema),
    /** Who sets or removes it; null for the agent itself, so that no user has its name. */
    by: z.nullable(text),
    requestId,
  }),
  "re-act-cancelled": input("re-act-cancelled", {
    reason: z.exactOptional(text),
    partial: z.exactOptional(text),
    requestId,
  }),
  /** The session starts no more model calls, tools and handlers until it is resumed. What runs ends, and its result counts. */
  "session-paused": input("session-paused", { reason: z.exactOptional(text), requestId }),
  "session-resumed": input("session-resumed", { requestId }),
  /** A failed loop is tried again: the next loop has its task and what it has done so far. */
  "loop-retried": input("loop-retried", { requestId }),
  /** A process has become the owner of the session. Work that the previous owner had started is interrupted. */
  "session-opened": input("session-opened", {
    owner: text,
    /** The version of the agent that writes the following records. */
    agentVersion: z.exactOptional(text),
    /** The rules by which the owner folds the session: its `rulesVersion`. */
    rules: z.exactOptional(z.int().check(z.positive())),
    /** The owner reports what calls have used that ended without their tools before it opened the session. */
    reportsUsage: z.exactOptional(z.literal(true)),
  }),
  /** `config` is merged field by field, `tools` replaces all tools. `activeAgent`: the session is now one of a team. */
  "agent-configured": input("agent-configured", {
    config: z.exactOptional(agentConfigChangeSchema),
    tools: z.exactOptional(toolsSchema),
    activeAgent: z.exactOptional(id),
  }),
  /** The intent to run the handler of a custom state, durable before it runs. */
  "state-handler-started": input("state-handler-started", intents["state-handler-started"]),
  /** The host of a handler has ended. Whether it runs again is decided by the replay policy of its state. */
  "state-handler-interrupted": input("state-handler-interrupted", { key: text }),
  "state-handled": input("state-handled", {
    key: text,
    event: text,
    /** A note to the model. */
    note: z.exactOptional(text),
    /** Why the state is left so, for people: it stands in the failure of a loop that this ends. Default: the note. */
    reason: z.exactOptional(text),
    /** A note in the trace, at the move that leaves the state. The model does not see it. */
    trace: z.exactOptional(traceNoteSchema),
    /** The usage of the tools that the handler called. */
    usage: z.exactOptional(usage),
    /** The changes of the application data by this handler. They apply with its decision, or not at all. */
    patches: z.exactOptional(z.array(dataPatchSchema)),
    /** Calls of the handler have not ended: a `usage-reported` follows with what they use. */
    usageFollows: z.exactOptional(z.literal(true)),
    /** What the model and people read from now on in place of a message, a result, or the texts of the newest turn. */
    replaced: z.exactOptional(z.array(replacementSchema)),
  }),
  "context-window-expanded": input("context-window-expanded", {}),
  /** Adds calls of earlier loops, with their results, to the next request. */
  "history-tool-calls-added": input("history-tool-calls-added", {
    toolCallIds: z.array(id).check(z.minLength(1)),
  }),
  /** The model has found tools that requests did not offer, or called them. Later requests offer them. */
  "tools-found": input("tools-found", { names: z.array(text).check(z.minLength(1)) }),
  "context-note-added": input("context-note-added", { text }),
  /**
   * The application data has changed. `version`: the data now has this version, because it is new or was migrated.
   * `toolCallId`: a call has changed it before its result, and `key`: a handler before its decision; such a change applies only
   * while the call or the handler runs.
   */
  "data-changed": input("data-changed", {
    patches: z.array(dataPatchSchema),
    by: text,
    version: z.exactOptional(z.number()),
    toolCallId: z.exactOptional(id),
    key,
    requestId,
  }),
  /** The usage of work that ended without an answer, because it was canceled or its request was replaced. */
  "usage-reported": input("usage-reported", { key: text, usage }),
  /**
   * The owner is about to save a snapshot of the state after record `seq`; `digest` is that of the snapshot's body. It binds
   * the snapshot to the chain: one that no such record names is not trusted.
   */
  "snapshot-taken": input("snapshot-taken", {
    seq: z.int().check(z.positive()),
    digest: text,
  }),
};

/** Creates the union of the schemas; `discriminatedUnion` requires at least one. */
function unionOf({ "user-message-received": first, ...others }: typeof inputSchemas) {
  return z.discriminatedUnion("type", [first, ...Object.values(others)]);
}

/** The schema of all inputs. */
export const agentEventSchema = unionOf(inputSchemas);

/** A fact that the reducer folds. Plain JSON; `timestamp` is in milliseconds since 1970. */
export type AgentInput = Immutable<z.infer<typeof agentEventSchema>>;
/** The type of an input. */
export type InputType = AgentInput["type"];
/** The input of a given type. */
export type InputOf<Type extends InputType> = Extract<AgentInput, { type: Type }>;

/** Work that begins with an input: an intent without a time. */
export type Start = Immutable<z.infer<typeof startSchema>>;
/** The input that records, alone, that work is about to start. */
export type IntentInput = InputOf<Start["type"]>;

/** A message of the user. It starts a loop; while one runs, `interjection` of the configuration applies. */
export type UserMessageInput = InputOf<"user-message-received">;
/** The intent to call the model, which is durable before the call is made. */
export type LlmCallStartedInput = InputOf<"llm-call-started">;
/** A model call was interrupted, and other work was not. */
export type LlmCallInterruptedInput = InputOf<"llm-call-interrupted">;
/** The model has started to stream a message. */
export type LlmMessageStartedInput = InputOf<"llm-message-started">;
/** A piece of text for viewers. The reducer ignores it, and no log contains it. */
export type LlmChunkInput = InputOf<"llm-chunk-received">;
/** The text that the model streams is complete; its turn is not. */
export type LlmMessageCompleteInput = InputOf<"llm-message-completed">;
/** The model has completed a turn: it calls tools, or answers. */
export type ReActObservedInput = InputOf<"re-act-observed">;
/** A model call failed. The reducer decides whether there is another attempt. */
export type LlmCallFailedInput = InputOf<"llm-call-failed">;
/** The model has summarized a part of the conversation. */
export type HistoryReflectedInput = InputOf<"history-reflected">;
/** The intent to run a tool, which is durable before it runs. */
export type ToolCallStartedInput = InputOf<"tool-call-started">;
/** A tool call has completed with this result. */
export type ToolCallResultInput = InputOf<"tool-call-completed">;
/** A tool asks a person in the middle of a call. */
export type ToolCallAskedInput = InputOf<"tool-call-asked">;
/** A run of a tool call was interrupted. `outcome`: whether it may have had its effect, or did not run. */
export type ToolCallInterruptedInput = InputOf<"tool-call-interrupted">;
/** A person has decided about a call, or answered its question. */
export type ToolCallDecidedInput = InputOf<"tool-call-decided">;
/** A wait of the session is over. */
export type DeadlinePassedInput = InputOf<"deadline-passed">;
/** A schedule was set or removed. */
export type ScheduleChangedInput = InputOf<"schedule-changed">;
/** The running loop is canceled. */
export type ReActCancelledInput = InputOf<"re-act-cancelled">;
/** The session is paused: no new work starts. */
export type SessionPausedInput = InputOf<"session-paused">;
/** A paused session continues. */
export type SessionResumedInput = InputOf<"session-resumed">;
/** A failed loop is tried again. */
export type LoopRetriedInput = InputOf<"loop-retried">;
/** A process has become the owner of the session. Work that had started is interrupted. */
export type SessionOpenedInput = InputOf<"session-opened">;
/** The configuration or the tools were changed. */
export type AgentConfiguredInput = InputOf<"agent-configured">;
/** The intent to run the handler of a custom state, which is durable before it runs. */
export type StateHandlerStartedInput = InputOf<"state-handler-started">;
/** A run of the handler of a custom state was interrupted, and other work was not. */
export type StateHandlerInterruptedInput = InputOf<"state-handler-interrupted">;
/** The usage of work that ended without an answer. */
export type UsageReportedInput = InputOf<"usage-reported">;
/** The handler of a custom state has decided which event leaves the state. */
export type StateHandledInput = InputOf<"state-handled">;
/** The window of earlier messages in requests was expanded. */
export type ExpandContextWindowInput = InputOf<"context-window-expanded">;
/** Calls of earlier loops, with their results, were added to the next request. */
export type AddToolCallsToContextInput = InputOf<"history-tool-calls-added">;
/** Tools that were not offered are offered from the next request on. */
export type ToolsFoundInput = InputOf<"tools-found">;
/** The application adds a note for the model, which the next request contains. */
export type AddContextNoteInput = InputOf<"context-note-added">;
/** The application data was changed. */
export type DataChangedInput = InputOf<"data-changed">;
/** The owner of a session is about to save a snapshot. */
export type SnapshotTakenInput = InputOf<"snapshot-taken">;
/** What a result has that hands the conversation to another agent of a team. */
export type Handoff = NonNullable<ToolCallResultInput["handoff"]>;
/** A tool call as the model made it. `parameters` is JSON text. */
export type ObservedToolCall = Immutable<z.infer<typeof observedToolCallSchema>>;
