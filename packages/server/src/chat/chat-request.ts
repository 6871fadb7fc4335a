import type { AgentAttachment, Decision, Question } from "@moora/agent";
import * as z from "zod/mini";
import { HttpProblem } from "../problem.ts";
import { checkedUserMessageId, isOfServer } from "./reserved-ids.ts";

const partSchema = z.looseObject({ type: z.string() });

const messageSchema = z.looseObject({
  id: z.string().check(z.minLength(1), z.maxLength(200)),
  role: z.enum(["user", "assistant", "system"]),
  parts: z.array(partSchema),
});

/**
 * The schema of the body that `useChat` sends. The log has the conversation: of the messages, only one counts. `messageId` names
 * the message with the answers of the user, which may be followed by others.
 */
export const chatBodySchema = z.looseObject({
  id: z.string().check(z.minLength(1), z.maxLength(200)),
  messages: z.array(messageSchema).check(z.minLength(1)),
  trigger: z.optional(z.string()),
  messageId: z.nullish(z.string()),
});

type ChatBody = z.infer<typeof chatBodySchema>;

/** Whether a page asks for an answer once more. It has removed the one that it had. */
export const isRegenerated = ({ trigger }: Pick<ChatBody, "trigger">): boolean =>
  trigger === "regenerate-message";

/** Whether a body has the id of an answer of this server: its page shows a chat that exists, or existed. */
export const showsAnswer = ({ messages }: Pick<ChatBody, "messages">): boolean =>
  messages.some(({ id, role }) => role === "assistant" && isOfServer(id));

/**
 * The message that a body posts: the one that it names, by default the last one; that of the user before an answer that is asked for once
 * more. Throws `refused` if there is none.
 */
export function postedMessageOf(body: ChatBody): ChatMessage {
  const { messages, messageId } = body;
  const posted = isRegenerated(body)
    ? messages.findLast(({ role }) => role === "user")
    : (messages.findLast(({ id }) => id === messageId) ?? messages.at(-1));
  if (posted !== undefined && posted.role !== "system") return posted;
  const detail = "The posted message must be one of the user, or contain the answers to questions.";
  throw new HttpProblem("refused", detail, { path: "messages" });
}

/** A message that `useChat` sends. */
export type ChatMessage = z.infer<typeof messageSchema>;

const textPartSchema = z.looseObject({ type: z.literal("text"), text: z.string() });
const filePartSchema = z.looseObject({
  type: z.literal("file"),
  mediaType: z.string(),
  url: z.string(),
  filename: z.optional(z.string()),
});

/** A message of the user, as a session takes it. */
export interface UserMessage {
  readonly messageId: string;
  readonly content: string;
  readonly attachments?: readonly AgentAttachment[];
}

/** A message of the user with its text and its files. Throws `refused` for a part that an agent cannot read, and a reserved id. */
export function userMessageOf({ id, parts }: ChatMessage): UserMessage {
  const texts: string[] = [];
  const attachments: AgentAttachment[] = [];
  for (const part of parts) {
    const text = textPartSchema.safeParse(part);
    const file = filePartSchema.safeParse(part);
    if (text.success) texts.push(text.data.text);
    else if (file.success) {
      const { mediaType, url, filename } = file.data;
      attachments.push({ mediaType, url, ...(filename === undefined ? {} : { name: filename }) });
    } else throw unknownPart();
  }
  const content = texts.join("\n").toWellFormed();
  return {
    messageId: checkedUserMessageId(id),
    content,
    ...(attachments.length === 0 ? {} : { attachments }),
  };
}

const unknownPart = (): HttpProblem =>
  new HttpProblem("refused", "Parts of a message must be of the type text or file.", { path: "messages" });

/** A question with its answer. */
export interface AnsweredQuestion {
  readonly question: Question;
  readonly decision: Decision;
}
