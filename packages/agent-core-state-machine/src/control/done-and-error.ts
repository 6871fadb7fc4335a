import { messagePosition, messagesOf, recordOf } from "../collections/state-lists.ts";
import type { StateEdit } from "../state-edit.ts";
import { isLoopFailureKind, loopFailure, type AgentFailure } from "../failure.ts";
import { hasNotRun, type AgentState, type ContextEntry } from "../state.ts";
import { textIn } from "../turn-parts.ts";
import { awaitUsageOfCalls } from "../unreported-usage.ts";
import { openCallOf } from "../collections/open-call-list.ts";
import { callIdsOf, failCall, lastTurn, mayHaveRun, unansweredIds } from "./calls.ts";
import type { AnyFiredEvent, EnterState } from "./enter.ts";
import { loopEntries } from "./loop-entries.ts";
import { closeStreamedMessage } from "./streamed-message.ts";

export const enterDone: EnterState<"Done"> = (edit) => {
  closeOpenWork(edit);
  edit.setContext({ control: { type: "Done", answer: answerAt(edit) } });
  return undefined;
};

export const enterError: EnterState<"Error"> = (edit, fired, from) => {
  const failure = fired.failure ?? failureOf(fired, from);
  closeOpenWork(edit);
  edit.setContext({ control: { type: "Error", failure } });
  return undefined;
};

/** The text of the newest turn of the loop. */
export const answerAt = (state: AgentState): string => textIn(lastTurn(state)?.parts ?? []);

/** The failure of an event that a custom row leads to Error. */
function failureOf({ event, detail }: AnyFiredEvent, from: string): AgentFailure {
  if (event === "Blocked" && detail !== undefined) return loopFailure(event, detail);
  const said = detail === undefined ? "" : ` ${detail}`;
  const message = `The event ${event} ended the loop in ${from}.${said}`;
  if (isLoopFailureKind(event)) return loopFailure(event, message);
  return { source: "event", kind: event, message, from };
}

/** Closes the open work of a loop that ends: settles its calls and its streaming message. */
function closeOpenWork(edit: StateEdit): void {
  closeStreamedMessage(edit, "");
  awaitUsageOfCalls(edit);
  for (const id of unansweredIds(edit)) {
    const call = openCallOf(edit.reActContext.control, id);
    if (call !== undefined && mayHaveRun(call))
      failCall(edit, id, { code: "cancelled-after-start", says: ["cancelledAfterStart"] });
    else failCall(edit, id, { code: "cancelled", says: ["cancelledBeforeRun"] });
  }
}

/**
 * Withholds this loop from later requests, so that content that the provider refused does not cause further refusals. The
 * calls are not withheld: a note names them, and their results can be loaded.
 */
export function withholdLoop(edit: StateEdit): void {
  const { loopStart, windowCount } = edit.reActContext;
  const calls = callsOf(edit);
  let counted = 0;
  loopEntries(edit).forEach((entry: ContextEntry, offset) => {
    if (entry.withheld === true) return;
    edit.putEntry(loopStart + offset, { ...entry, withheld: true });
    if (entry.type === "message" || entry.type === "turn") counted += 1;
    if (entry.type === "message") withholdMessage(edit, entry.messageId);
  });
  edit.setContext({ windowCount: Math.max(0, windowCount - counted) });
  if (calls.length > 0) edit.addNote(["withheldCalls", calls]);
}

/** The calls of a loop that may have had an effect, one sentence for each. */
function callsOf(state: AgentState): string[][] {
  const turns = loopEntries(state).flatMap((entry) => (entry.type === "turn" ? [entry] : []));
  return turns.flatMap(callIdsOf).flatMap((id) => {
    const record = recordOf(state, id);
    if (record === undefined || record.result === null || hasNotRun(record.result)) return [];
    const code = record.result.isSuccess ? "" : (record.result.code ?? "tool-error");
    return [["withheldCall", record.name, id, code]];
  });
}

function withholdMessage(edit: StateEdit, id: string): void {
  const index = messagePosition(edit, id);
  const message = index < 0 ? undefined : messagesOf(edit).at(index);
  if (message !== undefined)
    edit.putMessage(index, { ...message, status: "withheld", updatedAt: edit.timestamp });
}
