import { recordOf } from "./collections/state-lists.ts";
import { openCallsOf } from "./collections/open-call-list.ts";
import { toolOf } from "./control/calls.ts";
import type { OpenCall } from "./control/control.ts";
import type { StateEdit } from "./state-edit.ts";
import type { Spending } from "./usage.ts";
import { planKey, reflectKey, stateKey, toolKey } from "./keys.ts";

/** The maximum number of awaited reports. There are more only if a host does not report; the oldest are then dropped. */
const mostAwaited = 100;

function awaitUsage(edit: StateEdit, keys: readonly string[]): void {
  if (keys.length > 0) edit.set({ unreportedUsage: [...edit.unreportedUsage, ...keys].slice(-mostAwaited) });
}

/** Awaits the usage of a model call that ends without an answer, so that it counts when it is reported. */
export function awaitUsageOfModel(edit: StateEdit): void {
  const { reActContext: context } = edit;
  const { control } = context;
  if (
    control.type === "Planning" &&
    control.retryAt === null &&
    (control.started || control.messageId !== null)
  )
    awaitUsage(edit, [planKey(context, control)]);
  if (control.type === "Reflecting" && control.started) awaitUsage(edit, [reflectKey(context, control)]);
}

/** Awaits the usage of a call of a tool that calls models. Its reservation is kept until then, if its host reports. */
export function awaitUsageOf(edit: StateEdit, call: OpenCall): void {
  const { status, reserved } = call;
  if (status.type !== "running" || !status.started || spendsOf(edit, call) === undefined) return;
  const key = toolKey(call);
  awaitUsage(edit, [key]);
  const { lateReservations = [] } = edit.reActContext;
  if (reserved !== undefined && status.reportsUsage === true)
    edit.setContext({ lateReservations: [...lateReservations, { key, reserved }].slice(-mostAwaited) });
}

/** Releases the reservation of a call that has reported its usage. Default: all, since their hosts can no longer report. */
export function releaseReservations(edit: StateEdit, reported?: string): void {
  const { lateReservations = [] } = edit.reActContext;
  const kept = lateReservations.filter(({ key }) => reported !== undefined && key !== reported);
  if (kept.length < lateReservations.length) edit.setContext({ lateReservations: kept });
}

/** The same for a call that may also have been interrupted, and waits for its next attempt. */
export function awaitUsageOfUnfinished(edit: StateEdit, call: OpenCall): void {
  const { mayHaveRun, status } = call;
  const isWaiting = status.type === "queued" || (status.type === "running" && !status.started);
  const isInterrupted = mayHaveRun && isWaiting;
  if (!isInterrupted) awaitUsageOf(edit, call);
  else if (spendsOf(edit, call) !== undefined) awaitUsage(edit, [toolKey(call)]);
}

const spendsOf = (edit: StateEdit, { id }: OpenCall): Spending | undefined =>
  toolOf(edit, recordOf(edit, id)?.name ?? "")?.spends;

export function awaitUsageOfCalls(edit: StateEdit): void {
  for (const call of openCallsOf(edit.reActContext.control)) awaitUsageOf(edit, call);
}

/** Awaits the usage of the handler of a custom state, whose tools may call models. */
export function awaitUsageOfHandler(edit: StateEdit): void {
  const { tools, reActContext: context } = edit;
  const { control } = context;
  const isStarted = control.type === "Custom" && control.started;
  if (isStarted && Object.values(tools).some(({ spends }) => spends !== undefined))
    awaitUsage(edit, [stateKey(context, control)]);
}
