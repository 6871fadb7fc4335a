import type { AnswerDraft } from "@moora/agent-webui-protocol";
import { callsMessageId } from "./ag-ui-ids.ts";
import { reasoningId } from "./loop-turns.ts";

/** A message of AG-UI. */
export interface AgUiMessage {
  readonly id: string;
  readonly role: string;
  readonly content?: unknown;
  readonly toolCalls?:
    | readonly { readonly id: string; readonly function: { readonly arguments: string } }[]
    | undefined;
}

/** What the model has written in a message: its text, its reasoning, or the arguments of a call. */
export interface WrittenPart {
  readonly kind: "text" | "reasoning" | "call";
  /** That of the message, or of the call. */
  readonly id: string;
  readonly messageId: string;
  readonly text: string;
}

export const writtenIn = (messages: readonly AgUiMessage[]): readonly WrittenPart[] =>
  messages
    .filter(({ role }) => role === "assistant" || role === "reasoning")
    .flatMap(({ id: messageId, role, content, toolCalls = [] }): readonly WrittenPart[] => [
      {
        kind: role === "reasoning" ? role : "text",
        id: messageId,
        messageId,
        text: typeof content === "string" ? content : "",
      },
      ...toolCalls.map(({ id, function: { arguments: text } }) => ({
        kind: "call" as const,
        id,
        messageId,
        text,
      })),
    ]);

/** What a client is sent of a draft of the turn `turnId`, by the ids of its parts. */
export function draftContents(draft: AnswerDraft | undefined, turnId: string): ReadonlyMap<string, string> {
  const contents = new Map<string, string>();
  let reasonings = 0;
  let hasCalls = false;
  for (const part of draft?.parts ?? []) {
    const text = part.pieces.join("");
    if (part.kind === "call") {
      if (!hasCalls) contents.set(callsMessageId(part.toolCallId), "");
      hasCalls = true;
      contents.set(part.toolCallId, text);
    } else if (part.kind === "text" && draft !== undefined)
      contents.set(draft.messageId, (contents.get(draft.messageId) ?? "") + text);
    else contents.set(reasoningId(turnId, (reasonings += 1)), text);
  }
  return contents;
}
