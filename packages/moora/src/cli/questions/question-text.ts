import { askedText, escapeHiddenCharacters, type Question } from "@moora/agent";

/** Characters of the arguments that are shown. Longer ones cannot be judged at a glance. */
const maxShown = 4_000;

/** A question as text, complete. */
export function questionText(question: Question): string {
  const { about, name } = question;
  switch (about) {
    case "approval":
      return `The agent wants to call ${name} with\n${argumentsText(question)}\n${reasonText(question)}`;
    case "outcome":
      return (
        `The call of ${name} was interrupted. It is unknown whether it took effect. It was called with\n` +
        argumentsText(question)
      );
    case "answer": {
      const { text, rest } = askedText(question);
      return `The agent asks: ${text}${rest === undefined ? "" : `\n${shown(rest)}`}`;
    }
  }
}

const reasons: Readonly<Record<Question["reason"], string>> = {
  policy: "the approval policy asks about this tool",
  risk: "the approval policy asks about calls of this risk",
  predicate: "the predicate of the approval policy asks about this call",
  tool: "the tool asks about each of its calls",
  question: "the call is a question",
  interrupted: "the call was interrupted",
};

/** The risk of a call, and why a person is asked about it, as a line of text. */
export const reasonText = ({ risk, reason }: Pick<Question, "risk" | "reason">): string =>
  `${risk === undefined ? "" : `Risk: ${risk}. `}Asked because ${reasons[reason]}.`;

/** The arguments as one line of text that can be edited and parsed again. */
export const editableArguments = (parameters: unknown): string =>
  escapeHiddenCharacters(typeof parameters === "string" ? parameters : JSON.stringify(parameters));

const argumentsText = ({ parameters }: Question): string =>
  typeof parameters === "string" ? truncated(parameters) : shown(parameters);

const shown = (value: unknown): string => truncated(JSON.stringify(value, null, 2));

const truncated = (text: string): string =>
  text.length <= maxShown
    ? text
    : `${text.slice(0, maxShown).toWellFormed()}\n[${text.length - maxShown} more characters are not shown]`;
