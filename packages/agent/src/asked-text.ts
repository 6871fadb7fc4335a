import type { Question } from "./agent-event.ts";

/**
 * The text of a question: what a tool asks in the middle of its call, or the field `question` of a call that is a question, and
 * the other fields of its arguments, if there are any. Where the arguments have no such field, the text is all of them.
 */
export function askedText({ question: asked, parameters }: Pick<Question, "question" | "parameters">): {
  readonly text: string;
  readonly rest: object | undefined;
} {
  if (asked !== undefined) return { text: asked, rest: undefined };
  if (typeof parameters !== "object" || parameters === null || !("question" in parameters))
    return { text: jsonText(parameters), rest: undefined };
  const { question, ...rest } = parameters;
  if (typeof question !== "string") return { text: jsonText(parameters), rest: undefined };
  return { text: question, rest: Object.keys(rest).length === 0 ? undefined : rest };
}

const jsonText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
