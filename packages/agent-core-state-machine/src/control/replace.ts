import { messagePosition, messagesOf, recordOf, transcriptOf } from "../collections/state-lists.ts";
import type { Replacement } from "../replacement.ts";
import type { StateEdit } from "../state-edit.ts";
import type { TurnPart } from "../state.ts";
import { newestTurnAt } from "./calls.ts";

/** Puts a text in place of what was there, for the model and for people. Does nothing if that does not exist. */
export function replace(edit: StateEdit, replacement: Replacement): void {
  const { content } = replacement;
  switch (replacement.type) {
    case "message":
      return replaceMessage(edit, replacement.messageId, content);
    case "result":
      return replaceResult(edit, replacement.toolCallId, content);
    case "answer":
      return replaceAnswer(edit, content);
  }
}

/** A replaced message has no files: they are a part of what was replaced. */
function replaceMessage(edit: StateEdit, id: string, content: string): void {
  const index = messagePosition(edit, id);
  const message = index < 0 ? undefined : messagesOf(edit).at(index);
  if (message === undefined) return;
  const { attachments: _, ...text } = message;
  edit.putMessage(index, { ...text, content, updatedAt: edit.timestamp });
}

function replaceResult(edit: StateEdit, id: string, content: string): void {
  const record = recordOf(edit, id);
  if (record === undefined || record.result === null) return;
  const { receivedAt } = record.result;
  const { says: _, ...failure } = record.result.isSuccess ? { isSuccess: true as const } : record.result;
  const result = failure.isSuccess ? { ...failure, content, receivedAt } : { ...failure, error: content };
  edit.putCall(id, { ...record, result });
}

/** Only its calls are left of the turn: what the model thought may say what was replaced. */
function replaceAnswer(edit: StateEdit, content: string): void {
  const index = newestTurnAt(edit);
  const turn = index < 0 ? undefined : transcriptOf(edit).at(index);
  if (turn?.type !== "turn") return;
  const { raw: _, ...kept } = turn;
  const text: readonly TurnPart[] = content === "" ? [] : [{ type: "text", text: content }];
  edit.putEntry(index, { ...kept, parts: [...text, ...turn.parts.filter(({ type }) => type === "call")] });
  if (turn.messageId !== null) replaceMessage(edit, turn.messageId, content);
}
