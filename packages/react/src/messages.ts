import type { AgentAttachment, AgentMessage, AgentState, ContextEntry, ToolCallRecord } from "@moora/agent";
import { openCallsOf } from "@moora/agent-core-state-machine/internal";
import { inputOf, outputOf } from "./call-values.ts";
import type { ChatMessage, ChatPart, ToolCallPart, ToolCallStatus } from "./chat.ts";
import { turnPrefix } from "./streamed.ts";

type ChatState = Pick<AgentState, "messages" | "transcript" | "toolCalls" | "reActContext">;
type TurnEntry = Extract<ContextEntry, { type: "turn" }>;
type OpenCall = ReturnType<typeof openCallsOf>[number];

/** The id of a turn without text, which has no message in the state. */
const turnId = (loop: number, step: number): string => `${turnPrefix}${loop}_${step}`;

/** Makes the messages of states, and returns the same objects for what has not changed. */
export class MessageList {
  #messages: readonly ChatMessage[] = [];
  #byId: ReadonlyMap<string, ChatMessage> = new Map();
  #calls: ReadonlyMap<string, { readonly part: ToolCallPart; readonly record: ToolCallRecord }> = new Map();

  /** The messages of a state. With `isDrafting`, the model writes a call before any text: a message for it is the last one. */
  of(state: ChatState, isDrafting: boolean): readonly ChatMessage[] {
    const open = new Map(openCallsOf(state.reActContext.control).map((call) => [call.id, call]));
    const calls = new Map<string, { readonly part: ToolCallPart; readonly record: ToolCallRecord }>();
    const partOf = (toolCallId: string): readonly ToolCallPart[] => {
      const record = state.toolCalls[toolCallId];
      if (record === undefined) return [];
      const status = statusOf(record, open.get(toolCallId));
      const known = this.#calls.get(toolCallId);
      const isKnown = known?.record === record && known.part.status === status;
      const part = isKnown ? known.part : callPart(toolCallId, record, status, known?.part);
      calls.set(toolCallId, { part, record });
      return [part];
    };
    const made = inOrder(state).map((item) => itemToMessage(item, partOf));
    const { loop, step } = state.reActContext;
    if (isDrafting) made.push({ id: turnId(loop, step), role: "assistant", parts: [], streaming: true });
    this.#calls = calls;
    return this.#keep(made.filter(isShown));
  }

  byId(id: string): ChatMessage | undefined {
    return this.#byId.get(id);
  }

  #keep(made: readonly ChatMessage[]): readonly ChatMessage[] {
    const messages = made.map((message) => {
      const known = this.#byId.get(message.id);
      return known === undefined ? message : reuseParts(known, message);
    });
    const isUnchanged =
      messages.length === this.#messages.length &&
      messages.every((message, index) => message === this.#messages[index]);
    if (isUnchanged) return this.#messages;
    this.#messages = messages;
    this.#byId = new Map(messages.map((message) => [message.id, message]));
    return messages;
  }
}

/** The messages of a state with their parts, in the order of the conversation. A session has them with what is streamed: `useAgent`. */
export const messagesAt = (state: ChatState): readonly ChatMessage[] => new MessageList().of(state, false);

interface Item {
  readonly message?: AgentMessage;
  readonly turn?: TurnEntry;
}

/** The messages and the turns of a state, in the order of the conversation. A turn without text has no message. */
function inOrder({ messages, transcript, toolCalls }: ChatState): readonly Item[] {
  const places = new Map<string, number>();
  const loose: { readonly turn: TurnEntry; readonly place: number }[] = [];
  for (const [place, entry] of transcript.entries()) {
    if (entry.type === "turn" && entry.messageId === null) loose.push({ turn: entry, place });
    else if (entry.type === "turn" || entry.type === "message") places.set(entry.messageId ?? "", place);
  }
  const items: Item[] = [];
  let next = 0;
  for (const message of messages) {
    const own = places.get(message.id);
    for (let before = loose[next]; before !== undefined; before = loose[++next]) {
      const { turn, place } = before;
      if (own === undefined ? !isEarlier(turn, message, toolCalls) : place > own) break;
      items.push({ turn });
    }
    const entry = own === undefined ? undefined : transcript[own];
    items.push(entry?.type === "turn" ? { message, turn: entry } : { message });
  }
  return [...items, ...loose.slice(next).map(({ turn }) => ({ turn }))];
}

/** Whether a turn precedes a message that no request contains, such as one that was cut. */
function isEarlier(
  { parts }: TurnEntry,
  { receivedAt }: AgentMessage,
  calls: ChatState["toolCalls"],
): boolean {
  const call = parts.find((part) => part.type === "call");
  const calledAt = call?.type === "call" ? calls[call.toolCallId]?.calledAt : undefined;
  return calledAt === undefined || calledAt <= receivedAt;
}

function itemToMessage(
  { message, turn }: Item,
  callPartsOf: (toolCallId: string) => readonly ToolCallPart[],
): ChatMessage {
  const parts = (turn?.parts ?? []).flatMap((part): readonly ChatPart[] => {
    if (part.type === "text" || part.type === "reasoning")
      return part.text === "" ? [] : [{ type: part.type, text: part.text }];
    if (part.type === "file") return [filePart(part.file)];
    return part.type === "call" ? callPartsOf(part.toolCallId) : [];
  });
  if (message === undefined) {
    const id = turn === undefined ? "" : turnId(turn.loop, turn.step);
    return { id, role: "assistant", parts, streaming: false };
  }
  const { id, role, content, streaming, status, scheduled, attachments } = message;
  const ownParts = (): readonly ChatPart[] => [
    ...(content === "" ? [] : [{ type: "text", text: content } as const]),
    ...(attachments ?? []).map(filePart),
  ];
  return {
    id,
    role,
    // The parts of a turn contain its text and its files.
    parts: turn === undefined ? ownParts() : parts,
    streaming,
    ...(status === undefined ? {} : { status }),
    ...(scheduled === undefined ? {} : { scheduled }),
    ...(attachments === undefined ? {} : { attachments }),
  };
}

const filePart = (file: AgentAttachment): ChatPart => ({ type: "file", file });

function statusOf({ result, decision }: ToolCallRecord, open: OpenCall | undefined): ToolCallStatus {
  if (result !== null && decision?.type === "rejected") return "rejected";
  if (result !== null) return result.isSuccess ? "done" : "failed";
  if (open === undefined) return "queued";
  return open.status.type === "probing" ? "checking" : open.status.type;
}

/** The part of a call. The input stays the same object while the arguments are the same. */
function callPart(
  toolCallId: string,
  record: ToolCallRecord,
  status: ToolCallStatus,
  known: ToolCallPart | undefined,
): ToolCallPart {
  const { name, parameters, result, decision, original } = record;
  const made = inputOf(record);
  const isSame = made !== undefined && known?.parameters === parameters;
  const input = isSame ? (known.input ?? made) : made;
  const output = outputOf(record);
  return {
    type: "tool-call",
    toolCallId,
    name,
    status,
    parameters,
    input,
    result,
    output,
    ...(decision === undefined ? {} : { decision }),
    ...(original === undefined ? {} : { original }),
  };
}

/** Whether a message has something to show. */
const isShown = ({ parts, streaming, attachments }: ChatMessage): boolean =>
  parts.length > 0 || streaming || attachments !== undefined;

/** A message with the parts of an earlier one where they show the same; the earlier one if all do. */
export function reuseParts(known: ChatMessage, made: ChatMessage): ChatMessage {
  if (isSameMessage(known, made)) return known;
  const parts = made.parts.map((part, index) => {
    const before = known.parts[index];
    return before !== undefined && isSamePart(before, part) ? before : part;
  });
  return { ...made, parts };
}

/** Whether two messages show the same. */
const isSameMessage = (a: ChatMessage, b: ChatMessage): boolean =>
  a.streaming === b.streaming &&
  a.status === b.status &&
  a.attachments === b.attachments &&
  a.parts.length === b.parts.length &&
  a.parts.every((part, index) => isSamePart(part, b.parts[index]));

function isSamePart(a: ChatPart, b: ChatPart | undefined): boolean {
  if (a === b) return true;
  if (a.type === "tool-call" && b?.type === "tool-call") return isSameCall(a, b);
  if (a.type === "file" && b?.type === "file") return a.file === b.file;
  return "text" in a && b !== undefined && "text" in b && a.type === b.type && a.text === b.text;
}

const isSameCall = (a: ToolCallPart, b: ToolCallPart): boolean =>
  a.status === b.status &&
  a.parameters === b.parameters &&
  a.result === b.result &&
  a.decision === b.decision &&
  a.progress === b.progress;
