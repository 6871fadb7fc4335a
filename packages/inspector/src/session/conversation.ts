import type { AgentMessage, AgentState, ContextEntry, ToolCallRecord } from "@moora/agent-core-state-machine";
import { messageOf, recordOf, transcriptOf } from "@moora/agent-core-state-machine/internal";

/** What a user saw: a message, a call of a tool, or that another agent took over. */
export type ConversationItem =
  | {
      readonly kind: "message";
      readonly id: string;
      readonly role: AgentMessage["role"];
      readonly content: string;
      readonly isStreaming: boolean;
      readonly status: AgentMessage["status"] | undefined;
      readonly attachments: readonly string[];
    }
  | { readonly kind: "call"; readonly id: string; readonly call: ToolCallRecord }
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
      return messageItems(state, entry.messageId);
    case "turn":
      return turnItems(state, entry);
    case "handoff":
      return [{ kind: "handoff", from: entry.from, to: entry.to }];
    case "tool-calls":
    case "note":
    case "summary":
      return [];
  }
}

function messageItems(state: AgentState, id: string): readonly ConversationItem[] {
  const message = messageOf(state, id);
  if (message === undefined) return [];
  const { role, content, streaming, status, attachments = [] } = message;
  return [
    {
      kind: "message",
      id,
      role,
      content,
      isStreaming: streaming,
      status,
      attachments: attachments.map(({ mediaType, name }) => name ?? mediaType),
    },
  ];
}

function turnItems(
  state: AgentState,
  { messageId, parts }: Extract<ContextEntry, { type: "turn" }>,
): readonly ConversationItem[] {
  const message = messageId === null ? [] : messageItems(state, messageId);
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  const calls = parts.flatMap((part): readonly ConversationItem[] => {
    const call = part.type === "call" ? recordOf(state, part.toolCallId) : undefined;
    return call === undefined || part.type !== "call" ? [] : [{ kind: "call", id: part.toolCallId, call }];
  });
  const files = parts.flatMap((part) =>
    part.type === "file" ? [part.file.name ?? part.file.mediaType] : [],
  );
  const spoke = text.trim() !== "" || files.length > 0;
  if (message.length > 0 || !spoke) return [...message.map((item) => withFiles(item, files)), ...calls];
  const spoken: ConversationItem = {
    kind: "message",
    id: "",
    role: "assistant",
    content: text,
    isStreaming: false,
    status: undefined,
    attachments: files,
  };
  return [spoken, ...calls];
}

/** A message with the files that the model made. */
const withFiles = (item: ConversationItem, files: readonly string[]): ConversationItem =>
  item.kind === "message" ? { ...item, attachments: [...item.attachments, ...files] } : item;
