import type { AgentMessage } from "@moora/agent-webui-protocol";
import type { AgentState, ContextEntry, ToolCallRecord } from "../state.ts";
import { CallsEdit, callIn, type Calls } from "./call-table.ts";
import { KeyIndex } from "./key-index.ts";
import { ListEdit } from "./list-edit.ts";
import { partLength, type List, type Sequence } from "./long-list.ts";
import { FinishedLists, finishedListsOf, positionOf, type StateLists } from "./state-lists.ts";

/** The collections of a state that inputs are changing. */
export class ListsEdit implements StateLists {
  #messages: List<AgentMessage>;
  #messageIndex: KeyIndex<AgentMessage> | undefined;
  #transcript: List<ContextEntry>;
  #calls: Calls;
  #messagesEdit: ListEdit<AgentMessage> | undefined;
  #transcriptEdit: ListEdit<ContextEntry> | undefined;
  #callsEdit: CallsEdit | undefined;
  #finished: FinishedLists | undefined;

  constructor(state: AgentState) {
    const lists = finishedListsOf(state);
    this.#messages = lists?.messages ?? state.messages;
    this.#messageIndex = lists?.messageIndex;
    this.#transcript = lists?.transcript ?? state.transcript;
    this.#calls = lists?.calls ?? state.toolCalls;
    this.#finished = lists;
  }

  get messages(): Sequence<AgentMessage> {
    return this.#messagesEdit ?? this.#messages;
  }

  get transcript(): Sequence<ContextEntry> {
    return this.#transcriptEdit ?? this.#transcript;
  }

  messagePosition(id: string): number {
    const { messages } = this;
    if (this.#messageIndex === undefined && messages.length > partLength)
      this.#messageIndex = new KeyIndex(messages, messageId);
    return positionOf(messages, this.#messageIndex, id);
  }

  call(id: string): ToolCallRecord | undefined {
    return this.#callsEdit === undefined ? callIn(this.#calls, id) : this.#callsEdit.get(id);
  }

  /** Replaces the message at an index, or appends one at the end. */
  putMessage(index: number, message: AgentMessage): void {
    const messages = this.#writableMessages();
    this.#messageIndex?.add(message, index);
    if (index >= messages.length) messages.push(message);
    else messages.set(index, message);
  }

  insertMessage(index: number, message: AgentMessage): void {
    this.#writableMessages().insert(index, message);
    this.#messageIndex?.add(message, index);
  }

  putEntry(index: number, entry: ContextEntry): void {
    this.#finished = undefined;
    const transcript = (this.#transcriptEdit ??= new ListEdit(this.#transcript));
    if (index >= transcript.length) transcript.push(entry);
    else transcript.set(index, entry);
  }

  putCall(id: string, record: ToolCallRecord): void {
    this.#finished = undefined;
    (this.#callsEdit ??= new CallsEdit(this.#calls)).put(id, record);
  }

  /** Returns the current collections, with `callCount` calls. They are immutable from now on. */
  finish(callCount: number): FinishedLists {
    if (this.#finished !== undefined) return this.#finished;
    if (this.#messagesEdit !== undefined) this.#messages = this.#messagesEdit.finish();
    if (this.#transcriptEdit !== undefined) this.#transcript = this.#transcriptEdit.finish();
    if (this.#callsEdit !== undefined) this.#calls = this.#callsEdit.finish(callCount);
    this.#messagesEdit = undefined;
    this.#transcriptEdit = undefined;
    this.#callsEdit = undefined;
    return (this.#finished = new FinishedLists(
      this.#messages,
      this.#messageIndex,
      this.#transcript,
      this.#calls,
    ));
  }

  #writableMessages(): ListEdit<AgentMessage> {
    this.#finished = undefined;
    return (this.#messagesEdit ??= new ListEdit(this.#messages));
  }
}

const messageId = ({ id }: AgentMessage): string => id;
