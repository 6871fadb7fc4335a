import type { AnswerDraft } from "@moora/agent-webui-protocol";
import { callsMessageId } from "./ag-ui-ids.ts";
import { reasoningId } from "./reasoning-id.ts";

/** A message of AG-UI. */
export interface AgUiMessage {
  readonly id: string;
  readonly role: string;
  readonly content?: unknown;
  readonly toolCalls?:
    | readonly { readonly id: string; readonly function: { readonly arguments: string } }[]
    | undefined;
}

/** What the model has written in messages of AG-UI. */
export interface AgUiContents {
  /** The texts and the reasoning, by the id of the message. */
  readonly texts: ReadonlyMap<string, string>;
  /** The arguments, by the id of the call. */
  readonly calls: ReadonlyMap<string, string>;
}

export function messageContents(messages: readonly AgUiMessage[]): AgUiContents {
  const written = messages.filter(({ role }) => role === "assistant" || role === "reasoning");
  const calls = written.flatMap(({ toolCalls = [] }) => toolCalls);
  return {
    texts: new Map(written.map(({ id, content }) => [id, typeof content === "string" ? content : ""])),
    calls: new Map(calls.map(({ id, function: called }) => [id, called.arguments])),
  };
}

/** What a client is sent of a draft of the turn `turnId`. */
export function draftContents(draft: AnswerDraft | undefined, turnId: string): AgUiContents {
  const texts = new Map<string, string>();
  const calls = new Map<string, string>();
  let reasonings = 0;
  for (const part of draft?.parts ?? []) {
    const text = part.pieces.join("");
    if (part.kind === "call") {
      if (calls.size === 0) texts.set(callsMessageId(part.toolCallId), "");
      calls.set(part.toolCallId, text);
    } else if (part.kind === "text" && draft !== undefined)
      texts.set(draft.messageId, (texts.get(draft.messageId) ?? "") + text);
    else texts.set(reasoningId(turnId, (reasonings += 1)), text);
  }
  return { texts, calls };
}
