import type { Decision, Question } from "@moora/agent";
import { shownValue } from "@moora/agent-core-effects/internal";
import { HttpProblem } from "../problem.ts";
import type { Payload, RunInput } from "./ag-ui-request.ts";
import type { AnsweredQuestion } from "./chat-request.ts";
import { rejectionOf } from "./question-text.ts";

/** The fields of a payload that answers a question, by what the question is about. */
export const payloadFields = {
  approval: ["approved", "reason", "editedArgs"],
  outcome: ["approved", "reason"],
  answer: ["approved", "reason", "answer"],
} as const satisfies Readonly<Record<Question["about"], readonly string[]>>;

/**
 * The answers to the interrupts of the run before, as far as these are still open. Throws `refused` if an answer has no decision, or a
 * field that its question does not take, so that neither counts as an approval.
 */
export const resumedAnswersOf = (
  { resume = [] }: RunInput,
  open: readonly Question[],
): readonly AnsweredQuestion[] =>
  resume.flatMap(({ interruptId, status, payload = {} }, index) => {
    const question = open.find(({ digest }) => digest === interruptId);
    if (question === undefined) return [];
    if (status === "cancelled") return [{ question, decision: rejectionOf(question, payload.reason) }];
    const path = `resume.${index}.payload`;
    checkFields(question, payload, path);
    return [{ question, decision: decisionOf(question, payload, path) }];
  });

function checkFields({ about }: Question, payload: Payload, path: string): void {
  const known: readonly string[] = payloadFields[about];
  const unknown = Object.keys(payload).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const detail = `The payload has the field ${shownValue(unknown)}, which this question does not take. It takes ${known.join(", ")}.`;
  throw new HttpProblem("refused", detail, { path });
}

function decisionOf(
  question: Question,
  { approved, reason, editedArgs, answer }: Payload,
  path: string,
): Decision {
  const { about } = question;
  if (approved === false) return rejectionOf(question, reason);
  if (about === "answer") {
    if (answer === undefined) throw missing(path, "answer", "The payload must have an answer.");
    return { answer };
  }
  if (approved === undefined)
    throw missing(path, "approved", "The payload must have approved: true or false.");
  if (about === "outcome") return { outcome: "run-again" };
  return editedArgs === undefined ? "approve" : { approve: editedArgs };
}

const missing = (path: string, name: string, detail: string): HttpProblem =>
  new HttpProblem("refused", detail, { path: `${path}.${name}` });
