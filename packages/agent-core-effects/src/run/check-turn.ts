import type { AgentState } from "@moora/agent-core-state-machine";
import { toolOf } from "@moora/agent-core-state-machine/internal";
import { errorText } from "../error-text.ts";
import { isPromise } from "../is-promise.ts";
import type { AgentParts, ApprovalPredicate } from "./host.ts";
import {
  answerText,
  isAnswer,
  type CallCheck,
  type TurnCheck,
  type NumberedCall,
  type NumberedTurn,
} from "./observation.ts";

/**
 * Runs the checks that need code: the schemas of answers and arguments, and the predicates of the approval policy. Those
 * of several calls run at the same time. A promise only if a check returned one; it does not reject.
 */
export function checkTurn(
  state: AgentState,
  turn: NumberedTurn,
  parts: AgentParts,
): TurnCheck | Promise<TurnCheck> {
  if (isAnswer(turn)) return checkAnswer(answerText(turn.parts), state.config.answerSchema, parts);
  const checks = turn.calls.map((call) => checkCall(state, call, parts));
  const toCheck = (calls: TurnCheck["calls"]): TurnCheck => ({ calls, problem: undefined });
  const settled: (CallCheck | undefined)[] = [];
  for (const check of checks) {
    if (isPromise(check)) return Promise.all(checks.map(async (each) => await each)).then(toCheck);
    settled.push(check);
  }
  return toCheck(settled);
}

/** Checks an answer. One whose check throws is invalid. */
function checkAnswer(text: string, schema: string | null, parts: AgentParts): TurnCheck | Promise<TurnCheck> {
  const toCheck = (problem: string | undefined): TurnCheck => ({ calls: [], problem });
  const failed = (error: unknown): TurnCheck => toCheck(`It could not be checked: ${errorText(error)}`);
  try {
    const problem = parts.answerProblem?.(text, schema);
    return isPromise(problem) ? problem.then(toCheck, failed) : toCheck(problem);
  } catch (error) {
    return failed(error);
  }
}

/**
 * The check of an answer, which nothing can replace in the last step: there a problem ends the loop, and one that is too short has a
 * problem, too. A graph of the agent may lead such an answer elsewhere.
 */
export function checkOfStep(state: AgentState, turn: NumberedTurn, check: TurnCheck): TurnCheck {
  const { step, stepLimit } = state.reActContext;
  const hasOwnRows = Object.hasOwn(state.config.graph.rows, "Planning");
  if (!isAnswer(turn) || step < stepLimit || hasOwnRows) return check;
  const problem = check.problem ?? shortAnswerProblem(state, answerText(turn.parts));
  return problem === undefined ? check : { ...check, problem, isLast: true };
}

/** Undefined where a short answer is not asked for again. */
function shortAnswerProblem({ config, reActContext }: AgentState, text: string): string | undefined {
  const { minAnswerLength } = config.limits;
  const { length } = text.trim();
  if (length >= minAnswerLength || reActContext.retryCount >= config.retries.maxAnswerRetries)
    return undefined;
  return `It has ${length} characters, and limits.minAnswerLength is ${minAnswerLength}.`;
}

/** The check of a call: why it cannot run, or the result of the predicate, if the policy has one. */
function checkCall(
  state: AgentState,
  call: NumberedCall,
  parts: AgentParts,
): CallCheck | undefined | Promise<CallCheck | undefined> {
  const judge = (problem: string | undefined): ReturnType<typeof checkCall> =>
    problem === undefined ? checkApproval(state, call, parts) : { problem };
  const problem = argumentProblem(call, parts);
  return isPromise(problem) ? problem.then(judge) : judge(problem);
}

/** Why the arguments are invalid; undefined if they are valid. A check that throws finds no problem. */
function argumentProblem(
  { name, parameters }: NumberedCall,
  { tools }: AgentParts,
): string | undefined | Promise<string | undefined> {
  try {
    const problem = tools.get(name)?.check(parameters);
    return isPromise(problem) ? problem.catch(() => undefined) : problem;
  } catch {
    return undefined;
  }
}

/** The result of the predicate of the policy; undefined if the policy has none, or the tool has a rule of its own. */
function checkApproval(
  state: AgentState,
  call: NumberedCall,
  { predicates, tools }: AgentParts,
): CallCheck | undefined | Promise<CallCheck> {
  const { policy } = state.config.approval;
  if (typeof policy === "string" || !("predicate" in policy) || !tools.has(call.name)) return undefined;
  if (toolOf(state, call.name)?.approval !== undefined) return undefined;
  const predicate = Object.hasOwn(predicates, policy.predicate) ? predicates[policy.predicate] : undefined;
  const asks = predicateAsks(call, predicate);
  return isPromise(asks) ? asks.then((needsApproval) => ({ needsApproval })) : { needsApproval: asks };
}

/** Whether a predicate asks. One that throws or returns any value but false asks. */
function predicateAsks(
  { name, parameters }: NumberedCall,
  predicate: ApprovalPredicate | undefined,
): boolean | Promise<boolean> {
  const asks = (answer: unknown): boolean => answer !== false;
  try {
    const answer = predicate?.({ name, parameters });
    return isPromise(answer) ? answer.then(asks, () => true) : asks(answer);
  } catch {
    return true;
  }
}
