import type { AgentEvent, Question, SubAgentEvent, ToolCallResult } from "@moora/agent";
import { isObject } from "@moora/agent-core-effects/internal";
import * as z from "zod/mini";

/** An event that records of the log do not show. */
export type StreamedEvent = Extract<
  AgentEvent<unknown>,
  {
    type:
      | "LlmToken"
      | "LlmReasoning"
      | "LlmToolCall"
      | "LlmToolCallDelta"
      | "LlmPartEnded"
      | "LlmWarning"
      | "ToolCallProgress";
  }
>;

/** An event of a sub-agent: it asks, or a call that it asked about continues. A question travels without its method. */
export interface SentSubAgentEvent extends Omit<SubAgentEvent, "event"> {
  readonly event:
    | ({ readonly type: "ApprovalRequested" } & Question)
    | Extract<AgentEvent<unknown>, { type: "ToolCallStarted" | "ToolCallFinished" }>;
}

/** An event on its way to another server. `offset`: where its text begins in that of the answer, or of its reasoning. */
export interface SentEvent {
  readonly event: StreamedEvent | SentSubAgentEvent;
  readonly offset?: number;
}

/** Text of a message from `offset` on. */
export interface StreamedText {
  readonly messageId: string;
  readonly offset: number;
  readonly text: string;
}

/**
 * What the server that runs a session sends to those with viewers. `feed` identifies that server as the owner of the session, `seq` is
 * the last record that the session had. `begin` answers a request: the text that the viewers do not have, and all questions
 * of sub-agents.
 */
export type LiveText = {
  readonly session: string;
  readonly feed: string;
  readonly seq: number;
} & (
  | { readonly type: "events"; readonly events: readonly SentEvent[] }
  | {
      readonly type: "begin";
      readonly streaming: StreamedText | null;
      readonly questions?: readonly Question[];
    }
);

/** A session that a server has viewers of, and what they have of it. */
export interface ViewedSession {
  readonly session: string;
  readonly messageId: string | null;
  readonly length: number;
  /** Whether they see questions of sub-agents, which may have been answered. */
  readonly isAsked: boolean;
  /** Whether they have seen nothing of the owner yet. */
  readonly isNew: boolean;
}

/** What a server with viewers sends to all servers. `server` is its own topic. */
export type ViewerText =
  | { readonly type: "view"; readonly server: string; readonly sessions: readonly ViewedSession[] }
  | { readonly type: "leave"; readonly server: string; readonly sessions: readonly string[] };

/** The topic to which servers send `ViewerText`. Other versions of these texts have another one. */
export const viewersTopic = "viewers/1";

/** The text that the owner of a session has sent; undefined for a text of another form, such as that of another release. */
export const liveTextOf = (text: string): LiveText | undefined => parsed(liveTextSchema, text);

/** The request of a server with viewers; undefined for a text of another form. */
export const viewerTextOf = (text: string): ViewerText | undefined => parsed(viewerTextSchema, text);

function parsed<Text>(schema: z.ZodMiniType<Text>, text: string): Text | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

const id = z.string();
const count = z.int().check(z.nonnegative());
const ofMessage = { messageId: id };
const part = z.exactOptional(count);

const questionFields = {
  toolCallId: id,
  path: z.exactOptional(z.array(id)),
  about: z.enum(["approval", "outcome", "answer"]),
  name: z.string(),
  parameters: z.unknown(),
  question: z.exactOptional(z.string()),
  answerSchema: z.exactOptional(z.string()),
  digest: z.string(),
  risk: z.exactOptional(z.enum(["low", "medium", "high", "critical"])),
  reason: z.enum(["policy", "risk", "predicate", "tool", "question", "interrupted"]),
  due: z.nullable(z.number()),
  reminder: count,
  escalated: z.boolean(),
};

const resultSchema = z.custom<ToolCallResult>(
  (value: unknown) =>
    isObject(value) && typeof value[value["isSuccess"] === true ? "content" : "error"] === "string",
);

const ofCall = { toolCallId: id, name: z.string() };

const subAgentEventSchema = z.object({
  type: z.literal("SubAgentEvent"),
  toolCallId: id,
  path: z.array(id),
  event: z.discriminatedUnion("type", [
    z.object({ type: z.literal("ApprovalRequested"), ...questionFields }),
    z.object({ type: z.literal("ToolCallStarted"), ...ofCall, parameters: z.string() }),
    z.object({ type: z.literal("ToolCallFinished"), ...ofCall, result: resultSchema }),
  ]),
});

const sentEventSchema = z.object({
  event: z.discriminatedUnion("type", [
    z.object({ type: z.literal("LlmToken"), ...ofMessage, part, text: z.string() }),
    z.object({ type: z.literal("LlmReasoning"), ...ofMessage, part, text: z.string() }),
    z.object({
      type: z.literal("LlmToolCall"),
      ...ofMessage,
      toolCallId: z.exactOptional(id),
      name: z.string(),
    }),
    z.object({
      type: z.literal("LlmToolCallDelta"),
      ...ofMessage,
      toolCallId: id,
      text: z.string(),
      offset: count,
    }),
    z.object({ type: z.literal("LlmPartEnded"), ...ofMessage, part: count, toolCallId: z.exactOptional(id) }),
    z.object({ type: z.literal("LlmWarning"), text: z.string() }),
    z.object({ type: z.literal("ToolCallProgress"), toolCallId: id, text: z.string() }),
    subAgentEventSchema,
  ]),
  offset: z.exactOptional(count),
});

const head = { session: z.string(), feed: z.string(), seq: count };

const liveTextSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("events"), ...head, events: z.array(sentEventSchema) }),
  z.object({
    type: z.literal("begin"),
    ...head,
    streaming: z.nullable(z.object({ messageId: id, offset: count, text: z.string() })),
    questions: z.exactOptional(z.array(z.object(questionFields))),
  }),
]);

const viewedSchema = z.object({
  session: z.string(),
  messageId: z.nullable(id),
  length: count,
  isAsked: z.boolean(),
  isNew: z.boolean(),
});

const viewerTextSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("view"), server: z.string(), sessions: z.array(viewedSchema) }),
  z.object({ type: z.literal("leave"), server: z.string(), sessions: z.array(z.string()) }),
]);
