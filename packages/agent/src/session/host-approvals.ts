import type { AskHumanEffect } from "@moora/agent-core-effects";
import type { AgentInput, AgentState } from "@moora/agent-core-state-machine";
import { noReviewer } from "@moora/agent-core-state-machine/internal";
import type { AgentEvent, Decision, Question } from "../agent-event.ts";
import type { DecisionProblem } from "../decision-problem.ts";
import { answersQuestion } from "../decision-to-input.ts";
import { hostDecider, refusalWithoutDecision, refusalWithoutReviewer } from "../no-reviewer.ts";
import { effectToQuestion } from "./questions.ts";
import { InputRefused, type Receipt } from "./session.ts";

/**
 * Answers questions in place of an interactive host. `question.about` names the kind of decision that the question
 * accepts. A decision of another kind, an exception and a rejected promise are reported to `onError`, and the question stays open for
 * `decide`. In a task, which no one else can answer, the call is refused as `no-decision`. A valid decision of another kind makes an outcome unknown.
 */
export type OnApproval = (question: Question) => Decision | Promise<Decision>;

export interface ApprovalHost {
  readonly onApproval: OnApproval | undefined;
  /** Whether no reviewer can answer; questions are then rejected instead of left open. */
  readonly hasNoReviewer: () => boolean;
  /** Whether only `onApproval` answers: a question on which it fails is refused instead of left open. */
  readonly hasOneReviewer: () => boolean;
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
    return decision && toInput(question, decision, hostDecider(question, decision));
  };

/** The decision of `onApproval`. If it gives no valid one: a refusal, or undefined where another reviewer can answer the question. */
async function decisionOf(
  onApproval: OnApproval,
  question: Question,
  { hasOneReviewer, problemOf, failed }: ApprovalHost,
  key: string,
): Promise<Decision | undefined> {
  let isOfOtherKind = false;
  try {
    const decision = await onApproval(question);
    const problem = await problemOf(question, decision);
    if (problem !== undefined) throw new InputRefused(problem);
    if (answersQuestion(question, decision)) return decision;
    isOfOtherKind = true;
    const message = `It does not answer a question about an ${question.about}.`;
    throw new InputRefused({ code: "invalid-decision", path: "decision", message });
  } catch (error) {
    failed(error, key);
    // An approval of everything does not leave outcomes open.
    const isRefused = hasOneReviewer() || (isOfOtherKind && question.about === "outcome");
    return isRefused ? refusalWithoutDecision(question) : undefined;
  }
}
