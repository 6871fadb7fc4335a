import * as z from "zod/mini";

const textPart = z.object({
  type: z.enum(["text", "reasoning"]),
  text: z.string(),
  state: z.enum(["streaming", "done"]),
});

const filePart = z.object({
  type: z.literal("file"),
  mediaType: z.string(),
  url: z.string(),
  filename: z.exactOptional(z.string()),
});

const call = {
  toolCallId: z.string(),
  input: z.unknown(),
  /** The question that waits for the output: its digest, its text if it is not the call itself, and the JSON Schema of its answer, as a text. */
  toolMetadata: z.exactOptional(
    z.object({
      digest: z.string(),
      question: z.exactOptional(z.string()),
      answerSchema: z.exactOptional(z.string()),
    }),
  ),
};

/** A decision about a call, as the AI SDK has it. `id` is the digest of the question. */
const approval = <Approved extends z.ZodMiniType>(approved: Approved) =>
  z.object({ id: z.string(), approved, reason: z.exactOptional(z.string()) });

const approved = z.exactOptional(approval(z.literal(true)));

/** The parts of calls with these fields, by their state. */
const toolPart = <Fields extends object>(fields: Fields) =>
  z.discriminatedUnion("state", [
    z.object({ ...fields, state: z.literal("input-available") }),
    z.object({ ...fields, state: z.literal("approval-requested"), approval: z.object({ id: z.string() }) }),
    z.object({ ...fields, state: z.literal("approval-responded"), approval: approval(z.boolean()) }),
    z.object({ ...fields, state: z.literal("output-available"), output: z.unknown(), approval: approved }),
    z.object({ ...fields, state: z.literal("output-error"), errorText: z.string(), approval: approved }),
    z.object({ ...fields, state: z.literal("output-denied"), approval: approval(z.literal(false)) }),
  ]);

const dynamicToolPart = toolPart({ ...call, type: z.literal("dynamic-tool"), toolName: z.string() });

/** `tool-NAME`, on a server with `toolParts: "static"`. */
const staticToolPart = toolPart({ ...call, type: z.templateLiteral(["tool-", z.string()]) });

/** The schema of a part of a message of a chat: a part of a `UIMessage` of the AI SDK. */
export const chatPartSchema = z.union([
  z.object({ type: z.literal("step-start") }),
  textPart,
  filePart,
  dynamicToolPart,
  staticToolPart,
]);

/**
 * The schema of a message of a chat: a `UIMessage` of the AI SDK. The answer to a message of the user is `loop_1` and so on, with the
 * id of the session in its metadata.
 */
export const chatMessageSchema = z.object({
  id: z.string(),
  role: z.enum(["user", "assistant"]),
  metadata: z.exactOptional(z.object({ session: z.string() })),
  parts: z.array(chatPartSchema),
});

/** The schema of a chat: its messages, and the id of its session; null before its first message. */
export const chatViewSchema = z.object({
  session: z.nullable(z.string()),
  messages: z.array(chatMessageSchema),
});

/** A part of a message of a chat. */
export type ChatPart = z.infer<typeof chatPartSchema>;
/** A message of a chat. Assignable to `UIMessage` of the AI SDK. */
export type ChatMessage = z.infer<typeof chatMessageSchema>;
/** A chat: its messages, and the id of its session. */
export type ChatView = z.infer<typeof chatViewSchema>;
