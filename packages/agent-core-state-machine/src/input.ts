import { agentAttachmentSchema, type Immutable } from "@moora/agent-webui-protocol";
import * as z from "zod/mini";
import { modelFailureKinds } from "./failure.ts";
import { agentConfigChangeSchema } from "./config.ts";
import { observedTurnSchema, toolCallResultSchema, toolsSchema } from "./state.ts";
import { usageReportSchema } from "./usage.ts";

const id = z.string().check(z.minLength(1), z.maxLength(200));
const text = z.string();
const usage = z.exactOptional(usageReportSchema);
const key = z.exactOptional(z.string());

/** `parameters` is JSON text as the model wrote it; `digest` binds a decision to exactly these bytes. */
const observedToolCallSchema = z.object({
  name: text,
  parameters: text,
  calledAt: z.number(),
  digest: z.exactOptional(text),
  /** The answer of the approval policy's predicate. */
  needsApproval: z.exactOptional(z.boolean()),
  /** Why the arguments do not fit the tool: it is not run, and the model reads this. */
  problem: z.exactOptional(text),
});

/** What the model came to: tools to be called, or an answer; `problem` says why an answer does not fit its schema. */
const observationSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("continue-re-act"), toolCalls: z.record(id, observedToolCallSchema) }),
  z.object({ type: z.literal("complete-re-act"), problem: z.exactOptional(text) }),
]);

/** The schema of one type of input: what it has beside its type and the time at which it happened. */
const input = <const Type extends string, Fields extends z.core.$ZodShape>(type: Type, fields: Fields) =>
  z.object({ type: z.literal(type), ...fields, timestamp: z.number() });

/** The schema of each type of input. */
export const inputSchemas = {
  "user-message-received": input("user-message-received", {
    messageId: id,
    content: text,
    attachments: z.exactOptional(z.array(agentAttachmentSchema)),
  }),
  /** The intent to call a model, durable before the call is made. */
  "llm-call-started": input("llm-call-started", { key: text }),
  "llm-message-started": input("llm-message-started", { messageId: id, key }),
  /** A notice to viewers: `text` stands at `offset` of the message. The reducer ignores it, no log keeps it. */
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
  }),
  "llm-call-failed": input("llm-call-failed", {
    key: text,
    failure: z.object({
      /** A failure of the model, or `NoPrice`: the budget limits costs, and the model has no price. */
      kind: z.enum([...modelFailureKinds, "NoPrice"]),
      message: text,
      retryable: z.boolean(),
      retryAfterMs: z.exactOptional(z.number().check(z.nonnegative())),
    }),
    usage,
    /** The text that had been streamed. */
    partial: z.exactOptional(text),
  }),
  "history-reflected": input("history-reflected", {
    key: text,
    summary: text,
    usage,
  }),
  /** The intent to run a tool, durable before it runs. */
  "tool-call-started": input("tool-call-started", { toolCallId: id, attempt: z.number() }),
  "tool-call-completed": input("tool-call-completed", {
    toolCallId: id,
    result: toolCallResultSchema,
    key,
    /** What models used that the tool called itself. */
    usage,
  }),
  "tool-call-interrupted": input("tool-call-interrupted", {
    toolCallId: id,
    attempt: z.number(),
    outcome: z.enum(["unknown", "not-run"]),
  }),
  /**
   * What a person decided. About an approval: `approved`, `rejected`, `modified`. About a question of the agent: `answered`,
   * `rejected`. About an unknown outcome: `run-again`, `worked` with its result, `failed`, `unknown`.
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
  }),
  /** The time that a wait was for has come. The key decides, the timestamp is only recorded. */
  "deadline-passed": input("deadline-passed", { key: text }),
  "re-act-cancelled": input("re-act-cancelled", {
    reason: z.exactOptional(text),
    partial: z.exactOptional(text),
  }),
  /** A host takes the conversation up: whatever had started under the one before is interrupted. */
  "session-opened": input("session-opened", { owner: text }),
  /** `config` is merged field by field, `tools` replaces all tools. */
  "agent-configured": input("agent-configured", {
    config: z.exactOptional(agentConfigChangeSchema),
    tools: z.exactOptional(toolsSchema),
  }),
  /** The intent to run the handler of a custom state, durable before it runs. */
  "state-handler-started": input("state-handler-started", { key: text }),
  "state-handled": input("state-handled", {
    key: text,
    event: text,
    /** For the model to read. */
    note: z.exactOptional(text),
    /** What the tools used that the handler called. */
    usage: z.exactOptional(usage),
  }),
  "context-window-expanded": input("context-window-expanded", {}),
  /** Puts calls of earlier loops, with their results, before the model again. */
  "history-tool-calls-added": input("history-tool-calls-added", {
    toolCallIds: z.array(id).check(z.minLength(1)),
  }),
  "context-note-added": input("context-note-added", { text }),
  /** What work used that ended without an answer: it was cancelled, or its request was replaced. */
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

/** The union takes at least one schema and any number of others. */
function unionOf({ "user-message-received": first, ...others }: typeof inputSchemas) {
  return z.discriminatedUnion("type", [first, ...Object.values(others)]);
}

/** The schema of all inputs. */
export const agentEventSchema = unionOf(inputSchemas);

export type AgentInput = Immutable<z.infer<typeof agentEventSchema>>;
export type InputType = AgentInput["type"];
/** The input of a given type. */
export type InputOf<Type extends InputType> = Extract<AgentInput, { type: Type }>;

export type UserMessageInput = InputOf<"user-message-received">;
export type LlmCallStartedInput = InputOf<"llm-call-started">;
export type LlmMessageStartedInput = InputOf<"llm-message-started">;
export type LlmChunkInput = InputOf<"llm-chunk-received">;
export type LlmMessageCompleteInput = InputOf<"llm-message-completed">;
export type ReActObservedInput = InputOf<"re-act-observed">;
export type LlmCallFailedInput = InputOf<"llm-call-failed">;
export type HistoryReflectedInput = InputOf<"history-reflected">;
export type ToolCallStartedInput = InputOf<"tool-call-started">;
export type ToolCallResultInput = InputOf<"tool-call-completed">;
export type ToolCallInterruptedInput = InputOf<"tool-call-interrupted">;
export type ToolCallDecidedInput = InputOf<"tool-call-decided">;
export type DeadlinePassedInput = InputOf<"deadline-passed">;
export type ReActCancelledInput = InputOf<"re-act-cancelled">;
export type SessionOpenedInput = InputOf<"session-opened">;
export type AgentConfiguredInput = InputOf<"agent-configured">;
export type StateHandlerStartedInput = InputOf<"state-handler-started">;
export type UsageReportedInput = InputOf<"usage-reported">;
export type StateHandledInput = InputOf<"state-handled">;
export type ExpandContextWindowInput = InputOf<"context-window-expanded">;
export type AddToolCallsToContextInput = InputOf<"history-tool-calls-added">;
export type AddContextNoteInput = InputOf<"context-note-added">;
export type SnapshotTakenInput = InputOf<"snapshot-taken">;
export type ObservedToolCall = Immutable<z.infer<typeof observedToolCallSchema>>;
