import type { ToolCallResult } from "@moora/agent";
import { isObject } from "@moora/agent-core-effects/internal";
import type { LiveText } from "@moora/agent/internal";
import * as z from "zod/mini";

/** The text that the owner of a session has sent; undefined for a text of another form, such as that of another release. */
export function liveTextOf(text: string): LiveText | undefined {
  try {
    return liveTextSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

const id = z.string();
const count = z.int().check(z.nonnegative());
const ofMessage = { messageId: id };
const part = z.exactOptional(count);
/** Repeats that beside the event, which the receiver uses. Earlier releases send that one only. */
// The name of Zod for a default.
// oxlint-disable-next-line eslint/no-underscore-dangle
const offsetOfEvent = z._default(count, 0);

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
    z.object({ type: z.literal("LlmToken"), ...ofMessage, part, text: z.string(), offset: offsetOfEvent }),
    z.object({
      type: z.literal("LlmReasoning"),
      ...ofMessage,
      part,
      text: z.string(),
      offset: offsetOfEvent,
    }),
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
