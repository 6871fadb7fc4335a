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

/**
 * The message of the error for a loop without an answer that fits: the number of tries, the last reason and the last
 * answer.
 */
export function answerFailureText(problem: string, state: AgentState): string {
  const tries = countAnswersAt(state);
  const [reason = ""] = problem.split(schemaIntroduction, 1);
  const times = tries === 1 ? "After 1 try" : `After ${tries} tries`;
  return `${times} the answer does not fit its schema: ${reason} ${lastAnswerText(answerTextAt(state))}`;
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
