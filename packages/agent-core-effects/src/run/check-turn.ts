import type { AgentState } from "@moora/agent-core-state-machine";
import { toolOf } from "@moora/agent-core-state-machine/internal";
import { errorText } from "../error-text.ts";
import type { AgentParts, ApprovalPredicate } from "./host.ts";
import {
  answerText,
  type CallCheck,
  type TurnCheck,
  type NumberedCall,
  type NumberedTurn,
} from "./observation.ts";
import { waitFor, type EffectProgram } from "./effect-program.ts";

/** Runs the checks that need code: the schemas of answers and arguments, and the predicates of the approval policy. */
export function* checkTurn(
  state: AgentState,
  turn: NumberedTurn,
  parts: AgentParts,
): EffectProgram<TurnCheck> {
  const calls = new Map<string, CallCheck>();
  for (const call of turn.calls) {
    const check = yield* judgedCall(state, call, parts);
    if (check !== undefined) calls.set(call.id, check);
  }
  const isAnswer = turn.calls.length === 0 && !turn.parts.some((part) => part.type === "internal-call");
  const { answerSchema } = state.config;
  const problem = isAnswer ? yield* answerProblem(answerText(turn.parts), answerSchema, parts) : undefined;
  return { calls, problem };
}

/** Why an answer is invalid; undefined if it is valid. A check that throws makes it invalid. */
function* answerProblem(
  text: string,
  schema: string | null,
  parts: AgentParts,
): EffectProgram<string | undefined> {
  try {
    return yield* waitFor(parts.answerProblem?.(text, schema));
  } catch (error) {
    return `It could not be checked: ${errorText(error)}`;
  }
}

/** The check of a call: why it cannot run, or the result of the predicate, if the policy has one. */
function* judgedCall(
  state: AgentState,
  call: NumberedCall,
  parts: AgentParts,
): EffectProgram<CallCheck | undefined> {
  const problem = yield* argumentProblem(call, parts);
  if (problem !== undefined) return { problem };
  const { policy } = state.config.approval;
  const { predicates, tools } = parts;
  if (typeof policy === "string" || !("predicate" in policy) || !tools.has(call.name)) return undefined;
  const predicate = Object.hasOwn(predicates, policy.predicate) ? predicates[policy.predicate] : undefined;
  const hasOwnRule = toolOf(state, call.name)?.approval !== undefined;
  return hasOwnRule ? undefined : { needsApproval: yield* predicateAsks(call, predicate) };
}

/** Why the arguments are invalid; undefined if they are valid. A check that throws finds no problem. */
function* argumentProblem(
  { name, parameters }: NumberedCall,
  { tools }: AgentParts,
): EffectProgram<string | undefined> {
  try {
    return yield* waitFor(tools.get(name)?.check(parameters));
  } catch {
    return undefined;
  }
}

/** Whether a predicate asks. One that throws or returns any value but false asks. */
function* predicateAsks(
  call: NumberedCall,
  predicate: ApprovalPredicate | undefined,
): EffectProgram<boolean> {
  if (predicate === undefined) return true;
  try {
    const asks: unknown = yield* waitFor(predicate({ name: call.name, parameters: call.parameters }));
    return asks !== false;
  } catch {
    return true;
  }
}
