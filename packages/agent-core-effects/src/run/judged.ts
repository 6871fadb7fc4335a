import { toolOf, type AgentState } from "@moora/agent-core-state-machine";
import { errorText } from "../error-text.ts";
import type { AgentParts, ApprovalPredicate } from "./agent-parts.ts";
import { answerText, type Judgement, type NumberedCall, type NumberedTurn } from "./observed.ts";
import { waitFor, type Run } from "./run-steps.ts";

/** Looks at what the reducer cannot: schemas of answers and arguments, and the host's predicates. */
export function* judged(state: AgentState, turn: NumberedTurn, parts: AgentParts): Run<Judgement> {
  const needsApproval = new Map<string, boolean>();
  for (const call of turn.calls) {
    const asks = yield* asksHuman(state, call, parts);
    if (asks !== undefined) needsApproval.set(call.id, asks);
  }
  const isAnswer = turn.calls.length === 0 && !turn.parts.some((part) => part.type === "internal-call");
  const problem = isAnswer ? yield* answerProblem(answerText(turn.parts), parts) : undefined;
  return { needsApproval, problem };
}

/** A check that throws has found that the answer cannot be used. */
function* answerProblem(text: string, parts: AgentParts): Run<string | undefined> {
  try {
    return yield* waitFor(parts.answerProblem?.(text));
  } catch (error) {
    return `It could not be checked: ${errorText(error)}`;
  }
}

/** False where the arguments cannot run anyway, the predicate's word where one is asked, else left to the policy. */
function* asksHuman(state: AgentState, call: NumberedCall, parts: AgentParts): Run<boolean | undefined> {
  if (yield* cannotRun(call, parts)) return false;
  const tool = toolOf(state, call.name);
  const { policy } = state.config.approval;
  const ownRule = tool === undefined || tool.approval !== undefined || tool.asksHuman === true;
  if (ownRule || typeof policy === "string" || !("predicate" in policy)) return undefined;
  const { predicates } = parts;
  return yield* predicateAsks(
    call,
    Object.hasOwn(predicates, policy.predicate) ? predicates[policy.predicate] : undefined,
  );
}

/** A check that throws says nothing: then the policy decides as if the call could run. */
function* cannotRun({ name, parameters }: NumberedCall, { tools }: AgentParts): Run<boolean> {
  try {
    return (yield* waitFor(tools.get(name)?.check(parameters))) !== undefined;
  } catch {
    return false;
  }
}

/** A predicate that is missing, throws or says anything but false asks. */
function* predicateAsks(call: NumberedCall, predicate: ApprovalPredicate | undefined): Run<boolean> {
  if (predicate === undefined) return true;
  try {
    const asks: unknown = yield* waitFor(predicate({ name: call.name, parameters: call.parameters }));
    return asks !== false;
  } catch {
    return true;
  }
}
