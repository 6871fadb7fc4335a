import { runAgain } from "../control/admission.ts";
import { dueIn } from "../control/calls.ts";
import type { AskingStatus, OpenCall } from "../control/control.ts";
import { replayOf, settleUnknown } from "../control/interruptions.ts";
import { move } from "../control/move.ts";
import { advanceBatch } from "../control/tool-batch.ts";
import { waitAt, type Wait } from "../control/waits.ts";
import type { StateEdit } from "../state-edit.ts";
import type { InputHandler } from "./input-handler.ts";
import type { DeadlinePassedInput } from "../input.ts";
import { passSchedule } from "./schedule.ts";
import { expireQuestion } from "./tool-call-decided.ts";

export const deadlinePassed: InputHandler<DeadlinePassedInput> = (state, input) => {
  const wait = waitAt(state, input.key);
  return wait === undefined ? "wrong-key" : (edit) => endWait(edit, wait, input);
};

function endWait(edit: StateEdit, wait: Wait, input: DeadlinePassedInput): void {
  switch (wait.type) {
    case "retry":
      return move<"Planning">(edit, { event: "LlmRetry" });
    case "tool-retry":
      return endToolRetry(edit, wait.call);
    case "expiry":
      return expireQuestion(edit, wait.call, wait.status);
    case "reminder":
      return remind(edit, wait.call, wait.status);
    case "escalation":
      return escalate(edit, wait.call, wait.status);
    case "schedule":
      return passSchedule(edit, wait.schedule, input);
  }
}

/** Queues a call that waited for its next attempt, if the policies of now still allow it. */
function endToolRetry(edit: StateEdit, call: OpenCall): void {
  if (replayOf(edit, call) === "once") settleUnknown(edit, call);
  else runAgain(edit, call);
  advanceBatch(edit);
}

function remind(edit: StateEdit, call: OpenCall, status: AskingStatus): void {
  const remindAt = dueIn(edit, edit.config.approval.remindAfterMs);
  edit.putOpenCall({ ...call, status: { ...status, reminder: status.reminder + 1, remindAt } });
}

/** Shows a question again, as escalated. Happens once for each question. */
function escalate(edit: StateEdit, call: OpenCall, status: AskingStatus): void {
  const reminder = status.reminder + 1;
  edit.putOpenCall({ ...call, status: { ...status, reminder, escalateAt: null, escalated: true } });
}
