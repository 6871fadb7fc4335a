import type { Edit } from "../edit.ts";
import type { AgentState, ContextEntry } from "../state.ts";
import { textIn } from "../turn-parts.ts";
import { wording } from "../wording.ts";
import { failCall, lastTurn, openCallOf, unansweredIds } from "./calls.ts";
import type { AgentFailure } from "./control.ts";
import type { Enter, Fired } from "./fired.ts";
import { closeStreamedMessage } from "./streamed-message.ts";

export const enterDone: Enter = (edit) => {
  closeOpenWork(edit);
  edit.setContext({ control: { type: "Done", answer: answerAt(edit) } });
  return undefined;
};

export const enterError: Enter = (edit, fired, from) => {
  const failure = fired.failure ?? failureOf(fired, from);
  closeOpenWork(edit);
  edit.setContext({ control: { type: "Error", failure } });
  return undefined;
};

/** The text of the newest turn of the loop: what the model said last. */
export const answerAt = (state: AgentState): string => textIn(lastTurn(state)?.parts ?? []);

const messages: Readonly<Record<string, string>> = {
  MaxSteps: "The loop reached its limit of model calls.",
  BudgetExceeded: "The budget is spent.",
  Cancelled: "The task was cancelled.",
};

function failureOf({ event }: Fired, from: string): AgentFailure {
  const message = Object.hasOwn(messages, event) ? messages[event] : undefined;
  return { kind: event, message: message ?? `The event ${event} ended the loop in ${from}.`, from, event };
}

/** A loop that ends leaves nothing open: each call has its one result, no message streams on. */
function closeOpenWork(edit: Edit): void {
  closeStreamedMessage(edit, "");
  for (const id of unansweredIds(edit)) {
    const status = openCallOf(edit.reActContext.control, id)?.status;
    const mayHaveRun = status?.type === "probing" || (status?.type === "running" && status.started);
    failCall(edit, id, "cancelled", mayHaveRun ? wording.cancelledWhileRunning : wording.cancelledBeforeRun);
  }
}

/** Keeps this loop from the model from now on, so that what was refused does not poison later requests. */
export function withholdLoop(edit: Edit): void {
  const { loopStart, windowCount } = edit.reActContext;
  let counted = 0;
  edit.transcript.slice(loopStart).forEach((entry: ContextEntry, offset) => {
    if (entry.withheld === true) return;
    edit.putEntry(loopStart + offset, { ...entry, withheld: true });
    if (entry.type === "message" || entry.type === "turn") counted += 1;
    if (entry.type === "message") withholdMessage(edit, entry.messageId);
  });
  edit.setContext({ windowCount: Math.max(0, windowCount - counted) });
}

function withholdMessage(edit: Edit, id: string): void {
  const index = edit.messages.findLastIndex((message) => message.id === id);
  const message = edit.messages[index];
  if (message !== undefined)
    edit.putMessage(index, { ...message, status: "withheld", updatedAt: edit.timestamp });
}
