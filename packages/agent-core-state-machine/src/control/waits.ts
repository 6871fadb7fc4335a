import {
  escalationWaitKey,
  expiryWaitKey,
  reminderWaitKey,
  retryWaitKey,
  scheduleWaitKey,
  toolRetryWaitKey,
} from "../keys.ts";
import { isPaused } from "../inputs/pause.ts";
import type { AgentState } from "../state.ts";
import type { Schedule } from "../schedule.ts";
import { callFlags, openCallsWith } from "../collections/open-call-list.ts";
import type { AskingStatus, OpenCall } from "./control.ts";

/** A wait for a point in time. `due` is in milliseconds since 1970. */
export type Wait =
  | { readonly type: "retry"; readonly key: string; readonly due: number }
  | {
      readonly type: "tool-retry";
      readonly key: string;
      readonly due: number;
      /** The call that is repeated. */
      readonly call: OpenCall;
    }
  | {
      readonly type: "expiry" | "reminder" | "escalation";
      readonly key: string;
      readonly due: number;
      /** The call that asks. */
      readonly call: OpenCall;
      readonly status: AskingStatus;
    }
  | { readonly type: "schedule"; readonly key: string; readonly due: number; readonly schedule: Schedule };

/** The open waits of a state, in a fixed order. A pause holds schedules. */
export function waitsAt(state: AgentState): readonly Wait[] {
  const { reActContext: context, schedules } = state;
  const { control } = context;
  const waits: Wait[] = [];
  if (control.type === "Planning" && control.retryAt !== null)
    waits.push({ type: "retry", key: retryWaitKey(context, control), due: control.retryAt });
  for (const call of openCallsWith(control, callFlags.retrying | callFlags.asking)) addWaits(waits, call);
  if (schedules === undefined || isPaused(state)) return waits;
  for (const schedule of schedules.open)
    waits.push({ type: "schedule", key: scheduleWaitKey(schedule), due: schedule.due, schedule });
  return waits;
}

/** The open wait with this key; undefined if there is none. */
export const waitAt = (state: AgentState, key: string): Wait | undefined =>
  waitsAt(state).find((wait) => wait.key === key);

function addWaits(waits: Wait[], call: OpenCall): void {
  const { status } = call;
  if (status.type === "retrying")
    waits.push({ type: "tool-retry", key: toolRetryWaitKey(call), due: status.due, call });
  if (status.type !== "asking") return;
  const { due, remindAt, escalateAt } = status;
  if (due !== null) waits.push({ type: "expiry", key: expiryWaitKey(call, status), due, call, status });
  if (remindAt !== null)
    waits.push({ type: "reminder", key: reminderWaitKey(call, status), due: remindAt, call, status });
  if (escalateAt !== null)
    waits.push({ type: "escalation", key: escalationWaitKey(call, status), due: escalateAt, call, status });
}
