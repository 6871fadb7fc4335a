import type { AgentAttachment, Decision, Question } from "@moora/agent";
import * as z from "zod/mini";
import { HttpProblem } from "../problem.ts";
import { checkedUserMessageId, isOfServer } from "./reserved-ids.ts";
import { questionPartId } from "./question-text.ts";

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

type ChatPart = ChatMessage["parts"][number];

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

const approvalState = "approval-responded";

const approvalPartSchema = z.looseObject({
  state: z.literal(approvalState),
  approval: z.looseObject({ id: z.string(), approved: z.boolean(), reason: z.optional(z.string()) }),
});

const outputPartSchema = z.looseObject({
  state: z.enum(["output-available", "output-error"]),
  toolCallId: z.string(),
  output: z.optional(z.unknown()),
  errorText: z.optional(z.unknown()),
  toolMetadata: z.optional(z.looseObject({ digest: z.optional(z.string()) })),
});

/** A question with its answer. */
export interface AnsweredQuestion {
  readonly question: Question;
  readonly decision: Decision;
}

/**
 * The answers to open questions that a message of the assistant contains: approvals, and outputs of tools that ask a human. Throws
 * `refused` for an answer to an approval that is neither true nor false or that belongs to another call, and for an output without a
 * value.
 */
export const answersOf = ({ parts }: ChatMessage, open: readonly Question[]): readonly AnsweredQuestion[] =>
  parts.flatMap((part) => approvalIn(part, open) ?? outputIn(part, open) ?? []);

/** The approval or rejection in a part; undefined if it has none, or of no open question. */
function approvalIn(part: ChatPart, open: readonly Question[]): AnsweredQuestion | undefined {
  if (part["state"] !== approvalState) return undefined;
  const parsed = approvalPartSchema.safeParse(part);
  if (!parsed.success) throw invalidAnswer(invalidApproval);
  const { id, approved, reason } = parsed.data.approval;
  const question = open.find(({ digest }) => digest === id);
  if (question === undefined) return undefined;
  if (partIdOf(question) !== part["toolCallId"])
    throw invalidAnswer("An answer to an approval must have the id of the question about its call.");
  return { question, decision: approvalOf(question, approved, reason) };
}

/** The output in a part of a tool that asks a human; undefined if it has none, or of no open question. */
function outputIn(part: ChatPart, open: readonly Question[]): AnsweredQuestion | undefined {
  const parsed = outputPartSchema.safeParse(part);
  if (!parsed.success) return undefined;
  const { toolCallId, state, output, errorText = "The question was not answered." } = parsed.data;
  const digest = parsed.data.toolMetadata?.digest;
  const question = open.find(
    (asked) =>
      asked.about === "answer" &&
      partIdOf(asked) === toolCallId &&
      // A tool may ask several questions in one call.
      asked.digest === (digest ?? asked.digest),
  );
  if (question === undefined) return undefined;
  if (state === "output-error") {
    if (typeof errorText === "string") return { question, decision: { reject: errorText } };
    throw invalidAnswer("The errorText of a tool that asks must be a text.");
  }
  if (output === undefined) throw invalidAnswer("A tool that asks must have an output.");
  return { question, decision: { answer: output } };
}

const invalidApproval =
  "An answer to an approval must have approved: true or false, and its reason must be a text.";

const invalidAnswer = (detail: string): HttpProblem =>
  new HttpProblem("refused", detail, { path: "messages" });

/** The digests of the questions about approvals and outcomes that a message answers. */
export const approvalDigests = ({ parts }: ChatMessage): readonly string[] =>
  parts.flatMap((part) => {
    const approval = approvalPartSchema.safeParse(part);
    return approval.success ? [approval.data.approval.id] : [];
  });

/** The digests of the other questions of sub-agents that a message answers, and of those that have a result. */
export const outputDigests = ({ parts }: ChatMessage): readonly string[] =>
  parts.flatMap((part) => {
    const output = outputPartSchema.safeParse(part);
    const digest = output.success ? output.data.toolMetadata?.digest : undefined;
    return digest !== undefined && output.data?.toolCallId === questionPartId({ digest }) ? [digest] : [];
  });

/** The id of the part of a message that shows a question. */
const partIdOf = (question: Question): string =>
  question.path === undefined ? question.toolCallId : questionPartId(question);

/** An approved call with an unknown outcome runs again; one that is not approved stays unknown. */
function approvalOf({ about }: Question, approved: boolean, reason: string | undefined): Decision {
  if (about !== "outcome") return approved ? "approve" : { reject: reason ?? "The user refused." };
  if (approved) return { outcome: "run-again" };
  return { outcome: "unknown", ...(reason === undefined ? {} : { reason }) };
}
