import {
  decisionProblem,
  decisionToInput,
  effectToQuestion,
  type AgentInput,
  type AgentState,
  type Decision,
  type OnApproval,
  type Question,
} from "@moora/agent";
import { hostDecider, refusalWithoutDecision } from "@moora/agent/internal";
import type { AskHumanEffect, EffectHost } from "@moora/agent-core-effects";
import { callDigest, isPromise } from "@moora/agent-core-effects/internal";

/**
 * Decides a question without waiting. Returns inputs, of which the first that applies counts: the decision of the host, and
 * a rejection in case that is invalid. A promise counts as a rejection.
 */
export function syncDecisions(
  effect: AskHumanEffect,
  state: AgentState,
  host: Pick<EffectHost, "parts" | "limits" | "sessionId" | "digestOf" | "clock">,
  onApproval: OnApproval,
): readonly AgentInput[] {
  const { toolCallId, name } = effect;
  const question = effectToQuestion(effect, state);
  const toInput = (decision: Decision): AgentInput =>
    decisionToInput(question, decision, {
      by: hostDecider(question, decision),
      timestamp: host.clock.now(),
      digestOfChange: (parameters) => callDigest(state, host, { id: toolCallId, name, parameters }),
      maxResultLength: host.limits.maxResultLength,
    });
  const refusal = refusalWithoutDecision(question);
  const decision = syncDecision(onApproval, question, refusal);
  const problem = syncProblem(host, state, toolCallId, decision);
  if (problem === undefined) return [toInput(decision), toInput(refusal)];
  printProblem(question, problem);
  return [toInput(refusal)];
}

/** The decision; a refusal if there is none, which is printed. */
function syncDecision(onApproval: OnApproval, question: Question, refusal: Decision): Decision {
  try {
    const decision = onApproval(question);
    if (!isPromise(decision)) return decision;
    printProblem(question, discardPromise(decision));
  } catch (error) {
    printProblem(question, error);
  }
  return refusal;
}

/** Prints what the model must not read. A synchronous run has no `onError`. */
const printProblem = ({ toolCallId }: Question, problem: unknown): void =>
  console.error(`runSync: onApproval gave no valid decision on ${toolCallId}.`, problem);

function syncProblem(
  { parts }: Pick<EffectHost, "parts">,
  state: AgentState,
  toolCallId: string,
  decision: Decision,
): string | undefined {
  const problem = decisionProblem(parts, state, toolCallId, decision);
  return isPromise(problem) ? discardPromise(problem) : problem?.message;
}

function discardPromise(promise: Promise<unknown>): string {
  promise.catch(() => undefined);
  return "The decision is a promise, and a synchronous run cannot wait.";
}
