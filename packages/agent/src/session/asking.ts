import type { AskHumanEffect } from "@moora/agent-core-effects";
import type { AgentEvent, Decision, Question } from "../agent-event.ts";
import type { DecisionProblem } from "../decision-problem.ts";
import { effectToQuestion } from "./questions.ts";
import type { Receipt } from "./session.ts";

/** Answers questions in place of an interactive host. */
export type OnApproval = (question: Question) => Decision | Promise<Decision>;

export interface AskingHost {
  readonly onApproval: OnApproval | undefined;
  /** Whether nobody could answer: then questions are rejected instead of waiting. */
  readonly nobodyAnswers: () => boolean;
  readonly tell: (event: AgentEvent<never>) => void;
  readonly decide: (question: Question, decision: Decision, by?: string) => Promise<Receipt>;
  readonly problemOf: (
    question: Question,
    decision: Decision,
  ) => DecisionProblem | undefined | Promise<DecisionProblem | undefined>;
}

/** Puts a question before whoever answers for this host. */
export const askingWith =
  ({ onApproval, nobodyAnswers, tell, decide, problemOf }: AskingHost) =>
  async (effect: AskHumanEffect): Promise<void> => {
    const question = effectToQuestion(effect);
    const unasked = onApproval === undefined && nobodyAnswers();
    tell({
      type: "ApprovalRequested",
      ...question,
      decide: (decision, by) => decide(question, decision, by),
    });
    if (unasked) return void (await decide(question, { reject: "There is nobody to ask." }, "nobody"));
    if (onApproval === undefined) return;
    const decision = await approvalOf(onApproval, question);
    const reject = (why: string): Promise<Receipt> =>
      decide(question, { reject: `Asking failed: ${why}` }, "host");
    // A decision that cannot be taken counts as a rejection: nobody else is asked, and the question would stay open.
    const problem = await problemOf(question, decision);
    if (problem !== undefined) return void (await reject(problem.message));
    const receipt = await decide(question, decision, "host");
    if (receipt.status === "ignored" && receipt.reason === "wrong-decision")
      await reject("This decision does not answer the question.");
  };

async function approvalOf(onApproval: OnApproval, question: Question): Promise<Decision> {
  try {
    return await onApproval(question);
  } catch (error) {
    return { reject: `Asking failed: ${error instanceof Error ? error.message : String(error)}` };
  }
}
