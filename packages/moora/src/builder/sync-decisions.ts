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
import type { AskHumanEffect, EffectHost } from "@moora/agent-core-effects";
import { errorText, callDigest, isPromise } from "@moora/agent-core-effects/internal";

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
  const question = effectToQuestion(effect);
  const toInput = (decision: Decision): AgentInput =>
    decisionToInput(question, decision, {
      by: "host",
      timestamp: host.clock.now(),
      digestOfChange: (parameters) => callDigest(state, host, { id: toolCallId, name, parameters }),
      maxResultLength: host.limits.maxResultLength,
    });
  const decision = syncDecision(onApproval, question);
  const problem = syncProblem(host, state, toolCallId, decision);
  if (problem !== undefined) return [toInput({ reject: `Asking failed: ${problem}` })];
  return [
    toInput(decision),
    toInput({ reject: "Asking failed: This decision does not answer the question." }),
  ];
}

function syncDecision(onApproval: OnApproval, question: Question): Decision {
  try {
    const decision = onApproval(question);
    return isPromise(decision) ? { reject: `Asking failed: ${discardPromise(decision)}` } : decision;
  } catch (error) {
    return { reject: `Asking failed: ${errorText(error)}` };
  }
}

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
