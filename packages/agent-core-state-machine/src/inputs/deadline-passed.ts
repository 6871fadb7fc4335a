import { dueIn, replaceCall } from "../control/calls.ts";
import type { OpenCall } from "../control/control.ts";
import { move } from "../control/move.ts";
import { waitsAt, type Wait } from "../control/waits.ts";
import type { StateEdit } from "../state-edit.ts";
import type { AgentState } from "../state.ts";
import type { InputHandler } from "./input-handler.ts";
import type { DeadlinePassedInput } from "../input.ts";
import { expireQuestion } from "./tool-call-decided.ts";

const waitOf = (state: AgentState, key: string): Wait | undefined =>
  waitsAt(state).find((wait) => wait.key === key);

export const deadlinePassed: InputHandler<DeadlinePassedInput> = {
  whyNot: (state, { key }) => (waitOf(state, key) === undefined ? "wrong-key" : undefined),
  apply(edit, { key }) {
    const wait = waitOf(edit, key);
    if (wait?.type === "retry") move(edit, { event: "LlmRetry" });
    if (wait?.type === "expiry") expireQuestion(edit, wait.call);
    if (wait?.type === "reminder") remind(edit, wait.call);
    if (wait?.type === "escalation") escalate(edit, wait.call);
  },
};

function remind(edit: StateEdit, call: OpenCall): void {
  const { status } = call;
  if (status.type !== "asking") return;
  const remindAt = dueIn(edit, edit.config.approval.remindAfterMs);
  replaceCall(edit, { ...call, status: { ...status, reminder: status.reminder + 1, remindAt } });
}

/** Shown again, to others; an escalation happens once for each question. */
function escalate(edit: StateEdit, call: OpenCall): void {
  const { status } = call;
  if (status.type !== "asking") return;
  const reminder = status.reminder + 1;
  replaceCall(edit, { ...call, status: { ...status, reminder, escalateAt: null, escalated: true } });
}
