import { truncated } from "@moora/agent-core-effects/internal";
import type { AgentState } from "@moora/agent-core-state-machine";
import { answerTextAt } from "./answer-text-at.ts";

/** The text between the reason and the schema in the problem of an answer. */
const schemaIntroduction = " It must be one JSON value that fits this JSON Schema: ";

/** The longest schema that a problem repeats, in characters. A longer one is only in the request. */
const longestSchema = 4_000;

/** The problem of an answer that does not fit, with the schema: the model reads it before it answers again. */
export const answerProblemText = (reason: string, schema: string): string =>
  schema.length > longestSchema
    ? `${reason} It must be one JSON value that fits the JSON Schema of this request.`
    : `${reason}${schemaIntroduction}${schema}`;

/** The public message about an answer that does not fit: a reason may quote the answer, as its text does. */
export const answerInvalidText = "The answer does not fit its schema.";

/**
 * The message of the error for a loop without an answer that fits: the number of tries, the last reason and the last
 * answer. The public message has the number of tries only.
 */
export function answerFailureTexts(
  problem: string,
  state: AgentState,
): { readonly message: string; readonly publicMessage: string } {
  const tries = countAnswersAt(state);
  const [reason = ""] = problem.split(schemaIntroduction, 1);
  const isShort = problem.includes("limits.minAnswerLength");
  const statement = `After ${tries === 1 ? "1 try" : `${tries} tries`} the answer does not fit${isShort ? "" : " its schema"}`;
  return {
    message: `${statement}: ${reason} ${lastAnswerText(answerTextAt(state))}`,
    publicMessage: `${statement}.`,
  };
}

/** The end of a message about an answer: at most 400 characters of its text. */
export const lastAnswerText = (text: string): string =>
  `The last answer was: ${JSON.stringify(truncated(text, 400))}.`;

/** The number of turns of the newest loop that contain no tool call. */
function countAnswersAt({ transcript, reActContext: { loopStart } }: AgentState): number {
  return transcript
    .slice(loopStart)
    .filter(
      (entry) =>
        entry.type === "turn" && entry.parts.every(({ type }) => type !== "call" && type !== "internal-call"),
    ).length;
}
