import { truncated } from "@moora/agent-core-effects/internal";
import type { AgentState } from "@moora/agent-core-state-machine";
import { answerTextAt } from "./answer-text-at.ts";

/** The words between the reason and the schema in the problem of an answer. */
const schemaIntroduction = " It must be one JSON value that fits this JSON Schema: ";

/** Characters of a schema that a problem repeats; a longer one is in the request only. */
const longestSchema = 4_000;

/** Why an answer does not fit, with its schema: the model reads it before it answers again. */
export const answerProblemText = (reason: string, schema: string): string =>
  schema.length > longestSchema
    ? `${reason} It must be one JSON value that fits the JSON Schema of this request.`
    : `${reason}${schemaIntroduction}${schema}`;

/** The message of the error where no answer of a loop fitted: the number of tries, the last reason and the last answer. */
export function answerFailureText(problem: string, state: AgentState): string {
  const tries = answersAt(state);
  const [reason = ""] = problem.split(schemaIntroduction, 1);
  const times = tries === 1 ? "After 1 try" : `After ${tries} tries`;
  return `${times} the answer does not fit its schema: ${reason} ${lastAnswerText(answerTextAt(state))}`;
}

/** The end of a message about an answer: its text, at most 400 characters of it. */
export const lastAnswerText = (text: string): string =>
  `The last answer was: ${JSON.stringify(truncated(text, 400))}.`;

/** The turns of the newest loop that called no tool. */
function answersAt({ transcript, reActContext: { loopStart } }: AgentState): number {
  return transcript
    .slice(loopStart)
    .filter(
      (entry) =>
        entry.type === "turn" && entry.parts.every(({ type }) => type !== "call" && type !== "internal-call"),
    ).length;
}
