import type { AgentMessage } from "@moora/agent-webui-protocol";
import type { AgentState, ContextEntry, ToolCallRecord } from "../state.ts";
import { CallTable, callIn, type Calls } from "./call-table.ts";
import { lastPosition, type KeyIndex } from "./key-index.ts";
import { isSameRange, LongList, type List, type Sequence } from "./long-list.ts";

/** The collections of a state, read without creating arrays and objects of a long conversation. */
export interface StateLists {
  readonly messages: Sequence<AgentMessage>;
  readonly transcript: Sequence<ContextEntry>;
  /** The position of the message with this id, or -1. */
  messagePosition(id: string): number;
  /** The call with this id; undefined for an unknown id. */
  call(id: string): ToolCallRecord | undefined;
}

/** The collections of a finished state. */
export class FinishedLists implements StateLists {
  readonly messages: List<AgentMessage>;
  readonly transcript: List<ContextEntry>;
  readonly calls: Calls;
  /** Undefined for a short list, in which a search is fast. */
  readonly messageIndex: KeyIndex<AgentMessage> | undefined;

  constructor(
    messages: List<AgentMessage>,
    messageIndex: KeyIndex<AgentMessage> | undefined,
    transcript: List<ContextEntry>,
    calls: Calls,
  ) {
    this.messages = messages;
    this.messageIndex = messageIndex;
    this.transcript = transcript;
    this.calls = calls;
    // A reactive framework may wrap a state in a proxy, and does not wrap what is frozen.
    Object.freeze(this);
  }

  /** Whether a collection is divided, so that a state with it has properties that create arrays and objects when read. */
  get isLong(): boolean {
    return (
      this.messages instanceof LongList ||
      this.transcript instanceof LongList ||
      this.calls instanceof CallTable
    );
  }

  messagePosition(id: string): number {
    return positionOf(this.messages, this.messageIndex, id);
  }

  call(id: string): ToolCallRecord | undefined {
    return callIn(this.calls, id);
  }
}

/** The position of the message with this id, or -1. */
export const positionOf = (
  messages: Sequence<AgentMessage>,
  index: KeyIndex<AgentMessage> | undefined,
  id: string,
): number => index?.positionIn(messages, id) ?? lastPosition(messages, (message) => message.id === id);

/** A property of edits and of long states. Not enumerable, so that copies and JSON do not contain it. */
export const listsKey: unique symbol = Symbol("lists");

/** A state with collections that are read through `listsKey`. */
export interface WithLists {
  readonly [listsKey]?: StateLists;
}

/** The collections of an edit or a long state; undefined for a state whose collections are plain arrays and objects. */
const listsOf = (state: AgentState & WithLists): StateLists | undefined => state[listsKey];

/** The collections of a long state; undefined for any other one. */
export function finishedListsOf(state: AgentState): FinishedLists | undefined {
  const lists = listsOf(state);
  return lists instanceof FinishedLists ? lists : undefined;
}

/** The messages of a state. */
export const messagesOf = (state: AgentState): Sequence<AgentMessage> =>
  listsOf(state)?.messages ?? state.messages;

/** The transcript of a state. */
export const transcriptOf = (state: AgentState): Sequence<ContextEntry> =>
  listsOf(state)?.transcript ?? state.transcript;

/** The position of the message with this id, or -1. */
export const messagePosition = (state: AgentState, id: string): number =>
  listsOf(state)?.messagePosition(id) ?? positionOf(state.messages, undefined, id);

/** The message with this id; undefined for an unknown id. */
export function messageOf(state: AgentState, id: string): AgentMessage | undefined {
  const position = messagePosition(state, id);
  return position < 0 ? undefined : messagesOf(state).at(position);
}

/** Whether the records of these calls are the same objects in two states. `later` was reached from `earlier`. */
export function hasSameCalls(earlier: AgentState, later: AgentState, ids: readonly string[]): boolean {
  const before = finishedListsOf(earlier)?.calls;
  const after = finishedListsOf(later)?.calls;
  if (before instanceof CallTable && after instanceof CallTable && before.index === after.index)
    return isSameRange(before.entries, after.entries, 0, before.entries.length);
  return ids.every((id) => recordOf(earlier, id) === recordOf(later, id));
}

/** The record of a tool call by id; undefined for an unknown id. */
export function recordOf(state: AgentState, id: string): ToolCallRecord | undefined {
  const lists = listsOf(state);
  return lists === undefined ? callIn(state.toolCalls, id) : lists.call(id);
}
