import type { AskHumanEffect } from "@moora/agent-core-effects";
import type { AgentInput } from "@moora/agent-core-state-machine";
import type { AgentEvent, Decision, Question } from "../agent-event.ts";
import type { DecisionProblem } from "../decision-problem.ts";
import { answersQuestion, refusalOf } from "../decision-to-input.ts";
import { effectToQuestion } from "./questions.ts";
import type { Receipt } from "./session.ts";

/**
 * Answers questions in place of an interactive host. `question.about` says what kind of decision it takes. One that it
 * does not take, and an error, count as a rejection, or as `{ outcome: "unknown" }` for an unknown outcome.
 */
export type OnApproval = (question: Question) => Decision | Promise<Decision>;

export interface ApprovalHost {
  readonly onApproval: OnApproval | undefined;
  /** Whether nobody could answer: then questions are rejected instead of waiting. */
  readonly nobodyAnswers: () => boolean;
  readonly tell: (event: AgentEvent<never>) => void;
  readonly decide: (question: Question, decision: Decision, by?: string) => Promise<Receipt>;
  readonly toInput: (question: Question, decision: Decision, by: string) => AgentInput;
  readonly problemOf: (
    question: Question,
    decision: Decision,
  ) => DecisionProblem | undefined | Promise<DecisionProblem | undefined>;
}

/** Shows a question to those who answer for this host. Gives the decision where the host itself makes one. */
export const hostApprovals =
  (host: ApprovalHost) =>
  async (effect: AskHumanEffect): Promise<AgentInput | undefined> => {
    const { onApproval, nobodyAnswers, tell, decide, toInput } = host;
    const question = effectToQuestion(effect);
    const unasked = onApproval === undefined && nobodyAnswers();
    tell({
      type: "ApprovalRequested",
      ...question,
      decide: (decision, by) => decide(question, decision, by),
    });
    if (unasked) return toInput(question, refusalOf(question, "There is nobody to ask."), "nobody");
    if (onApproval === undefined) return undefined;
    return toInput(question, await decisionOf(onApproval, question, host), "host");
  };

/** The host's decision, or a refusal that says why it has none: nobody else is asked. */
async function decisionOf(
  onApproval: OnApproval,
  question: Question,
  { problemOf }: ApprovalHost,
): Promise<Decision> {
  const refuse = (why: string): Decision => refusalOf(question, `Asking failed: ${why}`);
  try {
    const decision = await onApproval(question);
    const problem = await problemOf(question, decision);
    if (problem !== undefined) return refuse(problem.message);
    return answersQuestion(question, decision)
      ? decision
      : refuse("The decision does not answer the question.");
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}
