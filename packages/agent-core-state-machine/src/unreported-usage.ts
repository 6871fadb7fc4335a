import { openCallsOf, recordOf, toolOf } from "./control/calls.ts";
import type { OpenCall } from "./control/control.ts";
import type { StateEdit } from "./state-edit.ts";
import { planKey, reflectKey, stateKey, toolKey } from "./keys.ts";

/** More than this is awaited only where a host does not report: the oldest are given up. */
const mostAwaited = 100;

function awaitUsage(edit: StateEdit, keys: readonly string[]): void {
  if (keys.length > 0) edit.set({ unreportedUsage: [...edit.unreportedUsage, ...keys].slice(-mostAwaited) });
}

/** Remembers the model call that ends here without an answer: what it used is counted when it becomes known. */
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

/** The same for a call of a tool that calls models itself. */
export function awaitUsageOf(edit: StateEdit, call: OpenCall): void {
  const isStarted = call.status.type === "running" && call.status.started;
  const spends = toolOf(edit, recordOf(edit, call.id)?.name ?? "")?.spends;
  if (isStarted && spends !== undefined) awaitUsage(edit, [toolKey(call)]);
}

export function awaitUsageOfCalls(edit: StateEdit): void {
  for (const call of openCallsOf(edit.reActContext.control)) awaitUsageOf(edit, call);
}

/** The same for the handler of a custom state, whose tools may call models. */
export function awaitUsageOfHandler(edit: StateEdit): void {
  const { tools, reActContext: context } = edit;
  const { control } = context;
  const isStarted = control.type === "Custom" && control.started;
  if (isStarted && Object.values(tools).some(({ spends }) => spends !== undefined))
    awaitUsage(edit, [stateKey(context, control)]);
}
