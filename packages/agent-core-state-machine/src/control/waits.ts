import {
  escalationWaitKey,
  expiryWaitKey,
  reminderWaitKey,
  retryWaitKey,
  toolRetryWaitKey,
} from "../keys.ts";
import type { AgentState } from "../state.ts";
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
    };

/** The open waits of a state, in a fixed order. */
export function waitsAt({ reActContext: context }: AgentState): readonly Wait[] {
  const { control } = context;
  if (control.type === "Planning" && control.retryAt !== null)
    return [{ type: "retry", key: retryWaitKey(context, control), due: control.retryAt }];
  const waits: Wait[] = [];
  for (const call of openCallsWith(control, callFlags.retrying | callFlags.asking)) addWaits(waits, call);
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
