import { askedText, type Question } from "@moora/agent";
import type { QuestionFields } from "./ui-chunk.ts";

/** What a person is asked about a call whose outcome is unknown. */
const outcomeQuestion =
  "The outcome of this call is unknown: it may have run. If you approve it, it runs again.";

/** The text of a question; undefined where the call itself is the question. */
export function questionText(asked: Question): string | undefined {
  if (asked.about === "outcome") return outcomeQuestion;
  return asked.about === "answer" ? askedText(asked).text : asked.question;
}

/** The fields of a question in a chunk. */
export function questionFields(asked: Question): QuestionFields {
  const question = questionText(asked);
  const { answerSchema } = asked;
  return {
    ...(question === undefined ? {} : { question }),
    ...(answerSchema === undefined ? {} : { answerSchema }),
  };
}

/** The id of the part of a message that shows a question of a sub-agent. Calls of sub-agents have ids of their own. */
export const questionPartId = ({ digest }: Pick<Question, "digest">): string => `question_${digest}`;

/** Whether an id is that of a part that shows a question of a sub-agent. */
export const isQuestionPart = (id: string): boolean => id.startsWith("question_");
