import type { AskHumanEffect } from "@moora/agent-core-effects";
import type { AgentInput, AgentState } from "@moora/agent-core-state-machine";
import { noReviewer } from "@moora/agent-core-state-machine/internal";
import type { AgentEvent, Decision, Question } from "../agent-event.ts";
import type { DecisionProblem } from "../decision-problem.ts";
import { answersQuestion, refusalOf } from "../decision-to-input.ts";
import { hostDecider, refusalWithoutReviewer } from "../no-reviewer.ts";
import { effectToQuestion } from "./questions.ts";
import { InputRefused, type Receipt } from "./session.ts";

/**
 * Answers questions in place of an interactive host. `question.about` names the kind of decision that the question
 * accepts. A decision of another kind, an exception and a rejected promise are reported to `onError` and count as a
 * rejection of the call; for a question about an outcome they count as `{ outcome: "unknown" }`.
 */
export type OnApproval = (question: Question) => Decision | Promise<Decision>;

export interface ApprovalHost {
  readonly onApproval: OnApproval | undefined;
  /** Whether no reviewer can answer; questions are then rejected instead of left open. */
  readonly hasNoReviewer: () => boolean;
  readonly emit: (event: AgentEvent<never>) => void;
  readonly decide: (question: Question, decision: Decision, by?: string) => Promise<Receipt>;
  readonly toInput: (question: Question, decision: Decision, by: string) => AgentInput;
  readonly problemOf: (
    question: Question,
    decision: Decision,
  ) => DecisionProblem | undefined | Promise<DecisionProblem | undefined>;
  /** Reports why `onApproval` has given no valid decision. */
  readonly failed: (error: unknown, key: string) => void;
}

/** Emits a question to listeners. Returns the input of the decision if the host itself makes one. */
export const hostApprovals =
  (host: ApprovalHost) =>
  async (effect: AskHumanEffect, state: AgentState): Promise<AgentInput | undefined> => {
    const { onApproval, hasNoReviewer, emit, decide, toInput } = host;
    const question = effectToQuestion(effect, state);
    const isRejected = onApproval === undefined && hasNoReviewer();
    emit({
      type: "ApprovalRequested",
      ...question,
      decide: (decision, by) => decide(question, decision, by),
    });
    if (isRejected) return toInput(question, refusalWithoutReviewer(question), noReviewer.by);
    if (onApproval === undefined) return undefined;
    const decision = await decisionOf(onApproval, question, host, effect.key);
    return toInput(question, decision, hostDecider(question, decision));
  };

/** The reason of a refusal without a valid decision. The model reads it, so it contains no details of the failure. */
const noValidDecision = "The reviewer gave no valid decision.";

/** The decision of `onApproval`, or a refusal if it fails or returns an invalid one: no other reviewer is asked. */
async function decisionOf(
  onApproval: OnApproval,
  question: Question,
  { problemOf, failed }: ApprovalHost,
  key: string,
): Promise<Decision> {
  try {
    const decision = await onApproval(question);
    const problem = await problemOf(question, decision);
    if (problem !== undefined) throw new InputRefused(problem);
    if (answersQuestion(question, decision)) return decision;
    const message = `It does not answer a question about an ${question.about}.`;
    throw new InputRefused({ code: "invalid-decision", path: "decision", message });
  } catch (error) {
    failed(error, key);
    return refusalOf(question, noValidDecision);
  }
}
