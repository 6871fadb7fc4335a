import type { AgentState, ContextEntry } from "@moora/agent-core-state-machine";
import { messageOf, transcriptOf } from "@moora/agent-core-state-machine/internal";
import type { ChatMessage } from "@moora/react";
import { messagesAt } from "@moora/react/components";

/** What a user saw: a message with its calls, that another agent took over, or why the loop failed. */
export type ConversationItem =
  | { readonly kind: "message"; readonly message: ChatMessage }
  | { readonly kind: "handoff"; readonly from: string; readonly to: string }
  | { readonly kind: "failure"; readonly text: string };

/** A part of the conversation: its last items. */
export interface Conversation {
  readonly items: readonly ConversationItem[];
  /** The number of entries before them that are left out. */
  readonly omitted: number;
}

/** The conversation as the user saw it: its last `most` entries. */
export function conversationAt(state: AgentState, most: number): Conversation {
  const { control, queued } = state.reActContext;
  const transcript = transcriptOf(state);
  const omitted = Math.max(0, transcript.length - most);
  const items = [...transcript.slice(omitted), ...queued].flatMap((entry) => entryItems(state, entry));
  if (control.type === "Planning" && control.messageId !== null)
    items.push(...messageItems(state, control.messageId));
  if (control.type === "Error")
    items.push({ kind: "failure", text: `${control.failure.kind}: ${control.failure.message}` });
  return { items, omitted };
}

function entryItems(state: AgentState, entry: ContextEntry): readonly ConversationItem[] {
  switch (entry.type) {
    case "message":
    case "turn":
      return messageItems(state, entry.messageId, entry);
    case "handoff":
      return [{ kind: "handoff", from: entry.from, to: entry.to }];
    case "tool-calls":
    case "note":
    case "summary":
      return [];
  }
}

/** The message of an id, with the parts of its entry if it has one. */
function messageItems(
  state: AgentState,
  id: string | null,
  entry?: ContextEntry,
): readonly ConversationItem[] {
  const message = id === null ? undefined : messageOf(state, id);
  const one = {
    ...state,
    messages: message === undefined ? [] : [message],
    transcript: entry === undefined ? [] : [entry],
  };
  return messagesAt(one).map((shown) => ({ kind: "message", message: shown }));
}
