import { budgetLeftAt, isSpent, reservationOf } from "../budget.ts";
import type { StateEdit } from "../state-edit.ts";
import type { AgentState, ToolCallDecision, ToolCallRecord } from "../state.ts";
import type { Spending } from "../usage.ts";
import { recordOf } from "../collections/state-lists.ts";
import {
  callFlags,
  hasOpenCall,
  openCallOf,
  openCallsOf,
  openCallsWith,
} from "../collections/open-call-list.ts";
import {
  failAsUnknown,
  failCall,
  namesTool,
  toolNameOf,
  toolOf,
  withoutReservation,
  withQuestion,
} from "./calls.ts";
import { needsHuman } from "./approval-rule.ts";
import type { Control, OpenCall, OpenCallStatus } from "./control.ts";

/**
 * Applies the current policy to every call that has not started: a call that is not allowed fails, one that needs an
 * approval asks for it. Called whenever calls are queued or the policy changes, so that every queued call may run.
 */
export function applyPolicy(edit: StateEdit): void {
  for (const call of openCallsOf(edit.reActContext.control))
    if (waitsForStart(call.status)) applyPolicyTo(edit, call);
}

/** Whether a call is queued, or admitted and not started. */
export const waitsForStart = (status: OpenCallStatus): boolean =>
  status.type === "queued" || (status.type === "running" && !status.started);

/** The decisions that allow a call to run. */
const approvals: ReadonlySet<ToolCallDecision["type"]> = new Set(["approved", "modified", "run-again"]);

const isApproved = ({ decision }: ToolCallRecord): boolean =>
  decision !== undefined && approvals.has(decision.type);

/**
 * Takes back what was approved of a call whose tool has become riskier, since a decision holds for what was shown: a person is asked anew
 * before the next attempt.
 */
export function withdrawApproval(edit: StateEdit, call: OpenCall, record: ToolCallRecord): void {
  const { decision: _, ...undecided } = record;
  if (isApproved(record)) edit.putCall(call.id, undecided);
  if (call.status.type === "asking" && call.status.about !== "answer")
    edit.putOpenCall(withQuestion(edit, call, call.status.about));
}

function applyPolicyTo(edit: StateEdit, call: OpenCall): void {
  const record = recordOf(edit, call.id);
  if (record === undefined) return;
  if (isBlacklisted(edit, record)) return refuseBlacklisted(edit, call, record);
  if (!needsHuman(edit, record) || isApproved(record)) return;
  const isQuestion = toolOf(edit, record.name)?.asksHuman === true;
  const about = isQuestion ? "answer" : call.mayHaveRun ? "outcome" : "approval";
  edit.putOpenCall(withQuestion(edit, withoutSlot(call), about));
}

/** The call without its slot: its current attempt is over, and its reservation is released. */
function withoutSlot(given: OpenCall): OpenCall {
  const call = withoutReservation(given);
  return call.status.type === "running" ? { ...call, attempt: call.attempt + 1 } : call;
}

/** Queues a call for its next attempt, if the policy still allows it. */
export function runAgain(edit: StateEdit, call: OpenCall): void {
  const again: OpenCall = {
    ...withoutReservation(call),
    attempt: call.attempt + 1,
    status: { type: "queued" },
  };
  edit.putOpenCall(again);
  applyPolicyTo(edit, again);
  const after = openCallOf(edit.reActContext.control, call.id);
  // A question about an outcome is about the attempt that was interrupted.
  if (after?.status.type === "asking" && after.status.about === "outcome")
    edit.putOpenCall({ ...after, attempt: call.attempt });
}

/** Whether the tool of a call is blacklisted, by its name or a former one. */
export const isBlacklisted = (
  state: Pick<AgentState, "config" | "tools">,
  { name }: Pick<ToolCallRecord, "name">,
): boolean => namesTool(state, state.config.toolCalls.blacklist, name);

/** Fails a call of a blacklisted tool. The outcome of a call that had started before is unknown. */
export function refuseBlacklisted(
  edit: StateEdit,
  { id, mayHaveRun }: OpenCall,
  { name }: ToolCallRecord,
): void {
  if (mayHaveRun) failAsUnknown(edit, id, { reason: ["notAllowedAnymore", name] });
  else failCall(edit, id, { code: "blacklisted", says: ["blacklisted", name] });
}

/** Whether calls run in a state. In a custom state, queued calls wait for the decision of its handler. */
const runsCalls = ({ type }: Control): boolean =>
  type === "WaitingForHuman" || type === "Acting" || type === "ParallelActing";

/** Fills the free slots with queued calls, in order. The effect of an admitted call is wanted until the call is settled. */
export function admitCalls(edit: StateEdit): void {
  const { control } = edit.reActContext;
  if (!runsCalls(control) || !hasOpenCall(control, callFlags.queued)) return;
  const nameOf = (call: OpenCall): string => toolNameOf(edit, recordOf(edit, call.id)?.name ?? "");
  const slots = freeSlots(edit, control, nameOf);
  const reserve = reservations(edit, control);
  for (const call of openCallsWith(control, callFlags.queued)) {
    if (!slots.hasAny()) return;
    const name = nameOf(call);
    const funded = slots.hasOne(name) ? reserve(call, name) : undefined;
    if (funded === undefined) continue;
    slots.take(name);
    edit.putOpenCall({ ...funded, status: { type: "running", started: false } });
  }
}

interface Slots {
  /** Whether a slot is free, maybe not for each tool. */
  hasAny(): boolean;
  /** Whether the own limit of a tool leaves a slot. */
  hasOne(name: string): boolean;
  take(name: string): void;
}

function freeSlots(edit: StateEdit, control: Control, nameOf: (call: OpenCall) => string): Slots {
  let free = edit.config.toolCalls.parallel ? edit.config.toolCalls.maxParallel : 1;
  /** The running calls of each tool with a limit. */
  const running = new Map<string, number>();
  const limitOf = (name: string): number | undefined => toolOf(edit, name)?.maxParallel;
  const take = (name: string): void => {
    free -= 1;
    if (limitOf(name) !== undefined) running.set(name, (running.get(name) ?? 0) + 1);
  };
  for (const call of openCallsWith(control, callFlags.running)) take(nameOf(call));
  const isBelowLimit = (name: string): boolean => {
    const limit = limitOf(name);
    return limit === undefined || (running.get(name) ?? 0) < limit;
  };
  return { hasAny: () => free > 0, hasOne: isBelowLimit, take };
}

/**
 * Returns a function that reserves what a call may spend, so that parallel calls cannot spend the same amount. It returns
 * undefined if the budget is used up by the reservations of other calls: the call then waits until one is released.
 */
function reservations(
  edit: StateEdit,
  control: Control,
): (call: OpenCall, name: string) => OpenCall | undefined {
  let remaining = budgetLeftAt(edit);
  if (remaining === undefined) return (call) => call;
  let held = hasOpenCall(control, callFlags.reserved);
  return (call, name) => {
    const spends = toolOf(edit, name)?.spends;
    if (remaining === undefined || spends === undefined || call.reserved !== undefined) return call;
    if (held && isSpent(remaining)) return undefined;
    const reserved = reservationOf(spends, remaining);
    remaining = less(remaining, reserved);
    held = true;
    return { ...call, reserved };
  };
}

const less = ({ tokens, cost }: Spending, taken: Spending): Spending => ({
  ...(tokens === undefined ? {} : { tokens: tokens - (taken.tokens ?? 0) }),
  ...(cost === undefined ? {} : { cost: cost - (taken.cost ?? 0) }),
});
