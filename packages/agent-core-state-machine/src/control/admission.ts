import { budgetLeftAt, isSpent, reservationOf } from "../budget.ts";
import type { StateEdit } from "../state-edit.ts";
import type { ToolCallDecision, ToolCallRecord } from "../state.ts";
import type { Spending } from "../usage.ts";
import { wording } from "../wording.ts";
import {
  failAsUnknown,
  failCall,
  needsHuman,
  openCallOf,
  openCallsOf,
  recordOf,
  replaceCall,
  setCalls,
  toolOf,
  withQuestion,
} from "./calls.ts";
import type { Control, OpenCall, OpenCallStatus } from "./control.ts";

/**
 * Holds every call that waits for its start against the policy as it is now: one that is not allowed fails, one that needs
 * an approval asks for it. Called wherever calls become queued or the policy changes, so that a queued call may always run.
 */
export function applyPolicy(edit: StateEdit): void {
  for (const { id, status } of openCallsOf(edit.reActContext.control))
    if (waitsForStart(status)) applyPolicyTo(edit, id);
}

/** Whether a call is in the queue, or was admitted and has not started. */
export const waitsForStart = (status: OpenCallStatus): boolean =>
  status.type === "queued" || (status.type === "running" && !status.started);

/** Decisions with which a person lets a call run. */
const approvals: ReadonlySet<ToolCallDecision["type"]> = new Set(["approved", "modified", "run-again"]);

const isApproved = ({ decision }: ToolCallRecord): boolean =>
  decision !== undefined && approvals.has(decision.type);

function applyPolicyTo(edit: StateEdit, id: string): void {
  const call = openCallOf(edit.reActContext.control, id);
  const record = recordOf(edit, id);
  if (call === undefined || record === undefined) return;
  if (isBlacklisted(edit, record)) return refuseBlacklisted(edit, call, record);
  if (!needsHuman(edit, record) || isApproved(record)) return;
  const isQuestion = toolOf(edit, record.name)?.asksHuman === true;
  const about = isQuestion ? "answer" : call.mayHaveRun ? "outcome" : "approval";
  replaceCall(edit, withQuestion(edit, withoutSlot(call), about));
}

/** The call as it is when it gives up its place: the attempt that was wanted is over, and nothing is reserved for it. */
function withoutSlot(given: OpenCall): OpenCall {
  const { reserved: _, ...call } = given;
  return call.status.type === "running" ? { ...call, attempt: call.attempt + 1 } : call;
}

/** Puts a call in the queue for its next attempt, if the policy still allows that. */
export function runAgain(edit: StateEdit, call: OpenCall): void {
  const { reserved: _, ...again } = {
    ...call,
    attempt: call.attempt + 1,
    status: { type: "queued" } as const,
  };
  replaceCall(edit, again);
  applyPolicyTo(edit, call.id);
  const after = openCallOf(edit.reActContext.control, call.id);
  // A question about an outcome is about the attempt that was interrupted.
  if (after?.status.type === "asking" && after.status.about === "outcome")
    replaceCall(edit, { ...after, attempt: call.attempt });
}

export const isBlacklisted = ({ config }: StateEdit, { name }: ToolCallRecord): boolean =>
  config.toolCalls.blacklist.includes(name);

/** Fails a call of a tool that is not allowed. One that had begun before it was forbidden has an unknown outcome. */
export function refuseBlacklisted(
  edit: StateEdit,
  { id, mayHaveRun }: OpenCall,
  { name }: ToolCallRecord,
): void {
  if (mayHaveRun) failAsUnknown(edit, id, `The tool ${name} is not allowed anymore.`);
  else failCall(edit, id, "blacklisted", wording.blacklisted(name));
}

/** The states in which calls run. In a state of the user's own, queued calls wait for what it decides. */
const runsCalls = ({ type }: Control): boolean =>
  type === "WaitingForHuman" || type === "Acting" || type === "ParallelActing";

/** Fills the free slots with queued calls, in order. An admitted call stays wanted until it is answered. */
export function admitCalls(edit: StateEdit): void {
  const { control } = edit.reActContext;
  const calls = openCallsOf(control);
  if (!runsCalls(control) || !calls.some(({ status }) => status.type === "queued")) return;
  const nameOf = (call: OpenCall): string => recordOf(edit, call.id)?.name ?? "";
  const slots = freeSlots(edit, calls, nameOf);
  const reserve = reservations(edit, calls);
  const admitted = calls.map((call): OpenCall => {
    if (call.status.type !== "queued" || !slots.hasOne(nameOf(call))) return call;
    const funded = reserve(call, nameOf(call));
    if (funded === undefined) return call;
    slots.take(nameOf(call));
    return { ...funded, status: { type: "running", started: false } };
  });
  setCalls(edit, admitted);
}

interface Slots {
  hasOne(name: string): boolean;
  take(name: string): void;
}

function freeSlots(edit: StateEdit, calls: readonly OpenCall[], nameOf: (call: OpenCall) => string): Slots {
  let free = edit.config.toolCalls.parallel ? edit.config.toolCalls.maxParallel : 1;
  const running = new Map<string, number>();
  const take = (name: string): void => {
    free -= 1;
    running.set(name, (running.get(name) ?? 0) + 1);
  };
  for (const call of calls) if (call.status.type === "running") take(nameOf(call));
  const most = (name: string): number => toolOf(edit, name)?.maxParallel ?? Number.MAX_SAFE_INTEGER;
  return { hasOne: (name) => free > 0 && (running.get(name) ?? 0) < most(name), take };
}

/**
 * Sets aside what a call may spend, so that calls that run side by side never spend the same amount. Gives undefined for a
 * call that finds nothing left while others hold a part: it waits for what they give back.
 */
function reservations(
  edit: StateEdit,
  calls: readonly OpenCall[],
): (call: OpenCall, name: string) => OpenCall | undefined {
  let remaining = budgetLeftAt(edit);
  let held = calls.some(({ reserved }) => reserved !== undefined);
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
