import { askedText, type Decision, type Question } from "@moora/agent";
import type { UiChunk } from "./ui-chunk.ts";

/** What a person is asked about a call whose outcome is unknown. */
const outcomeQuestion =
  "The outcome of this call is unknown: it may have run. If you approve it, it runs again.";

/** The text of a question; undefined where the call itself is the question. */
export function questionText(asked: Question): string | undefined {
  if (asked.about === "outcome") return outcomeQuestion;
  return asked.about === "answer" ? askedText(asked).text : asked.question;
}

/** The chunks that ask a question: about a call of the session, which is written already, or of a sub-agent, whose call is a part of its own. */
export function askChunks(asked: Question): readonly UiChunk[] {
  const { digest, about, name: toolName, parameters: input, answerSchema } = asked;
  const toolCallId = partIdOf(asked);
  const question = questionText(asked);
  const call = { toolCallId, toolName, input, ...(isOfSubAgent(asked) ? { dynamic: true as const } : {}) };
  const fields = {
    ...(question === undefined ? {} : { question }),
    ...(answerSchema === undefined ? {} : { answerSchema }),
  };
  const chunks: UiChunk[] = [];
  // The page shows the text of a question about an outcome with the approval.
  if (about !== "approval") chunks.push({ type: "tool-question", ...call, ...fields, digest });
  else if (isOfSubAgent(asked)) chunks.push({ type: "tool-input-available", ...call });
  if (about !== "answer") chunks.push({ type: "tool-approval-request", toolCallId, approvalId: digest });
  return chunks;
}

export const isOfSubAgent = ({ path = [] }: Pick<Question, "path">): boolean => path.length > 0;

/** The id of the part of a message that shows a question. */
export const partIdOf = (question: Question): string =>
  isOfSubAgent(question) ? questionPartId(question) : question.toolCallId;

/** The id of the part of a message that shows a question of a sub-agent. Calls of sub-agents have ids of their own. */
export const questionPartId = ({ digest }: Pick<Question, "digest">): string => `question_${digest}`;

/** Whether an id is that of a part that shows a question of a sub-agent. */
export const isQuestionPart = (id: string): boolean => id.startsWith("question_");

/** A rejection. An outcome stays unknown. */
export const rejectionOf = ({ about }: Pick<Question, "about">, reason: string | undefined): Decision =>
  about === "outcome"
    ? { outcome: "unknown", ...(reason === undefined ? {} : { reason }) }
    : { reject: reason ?? "The user refused." };
