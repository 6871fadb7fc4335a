import type { AgentMessage } from "@moora/agent-webui-protocol";
import type { AgentConfig } from "./agent-config.ts";
import { copyOfMessages, forgetPositions } from "./message-index.ts";
import type { AgentState, ContextEntry, ReActContext, ToolCallRecord, ToolDefinition } from "./state.ts";
import { addAgentUsage, type AgentUsage, type UsageReport } from "./usage.ts";

/** One move along an edge of the control graph. */
export interface ControlMove {
  readonly from: string;
  readonly event: string;
  readonly to: string;
  readonly loop: number;
  readonly step: number;
  readonly timestamp: number;
}

/** One change of a state, as data. Digests of records and patches for viewers are computed from changes. */
export type AgentChange =
  | { readonly op: "put-message"; readonly index: number; readonly message: AgentMessage }
  | { readonly op: "insert-message"; readonly index: number; readonly message: AgentMessage }
  | { readonly op: "put-call"; readonly id: string; readonly record: ToolCallRecord }
  | { readonly op: "put-entry"; readonly index: number; readonly entry: ContextEntry }
  | { readonly op: "add-context-calls"; readonly ids: readonly string[] }
  | { readonly op: "set-context"; readonly fields: Partial<ReActContext> }
  | { readonly op: "set-state"; readonly fields: Partial<StateFields> };

/** The fields of a state that are replaced as a whole. */
type StateFields = Pick<
  AgentState,
  | "config"
  | "tools"
  | "toolCallCount"
  | "owner"
  | "opened"
  | "calledLlmAt"
  | "updatedAt"
  | "usage"
  | "unreportedUsage"
>;

/**
 * A state that inputs are changing. Only this class writes states. It can be read like a state.
 *
 * Each collection is copied at its first write and written in place after that; elements are replaced, not changed. An
 * edit that finishes after each input is persistent: the states that it has returned do not change. An edit that applies
 * many inputs before it finishes works in place, on its own collections.
 */
export class StateEdit implements AgentState {
  readonly version = 1;
  config: AgentConfig;
  messages: readonly AgentMessage[];
  tools: Readonly<Record<string, ToolDefinition>>;
  toolCalls: Readonly<Record<string, ToolCallRecord>>;
  toolCallCount: number;
  transcript: readonly ContextEntry[];
  reActContext: ReActContext;
  owner: string | null;
  opened: number;
  calledLlmAt: number;
  updatedAt: number;
  usage: AgentUsage;
  unreportedUsage: readonly string[];

  /** The timestamp of the current input. */
  timestamp = 0;
  moves: ControlMove[] = [];
  changes: AgentChange[] | undefined;

  #ownMessages: AgentMessage[] | undefined;
  #ownToolCalls: Record<string, ToolCallRecord> | undefined;
  #ownTranscript: ContextEntry[] | undefined;
  #ownContextCalls: string[] | undefined;
  #ownContext: Mutable<ReActContext> | undefined;

  constructor(state: AgentState, records = false) {
    this.config = state.config;
    this.messages = state.messages;
    this.tools = state.tools;
    this.toolCalls = state.toolCalls;
    this.toolCallCount = state.toolCallCount;
    this.transcript = state.transcript;
    this.reActContext = state.reActContext;
    this.owner = state.owner;
    this.opened = state.opened;
    this.calledLlmAt = state.calledLlmAt;
    this.updatedAt = state.updatedAt;
    this.usage = state.usage;
    this.unreportedUsage = state.unreportedUsage;
    this.changes = records ? [] : undefined;
    this.#ownMessages = undefined;
    this.#ownToolCalls = undefined;
    this.#ownTranscript = undefined;
    this.#ownContextCalls = undefined;
    this.#ownContext = undefined;
  }

  putMessage(index: number, message: AgentMessage): void {
    this.#writableMessages()[index] = message;
    this.changes?.push({ op: "put-message", index, message });
  }

  /** Inserts a message before the one at `index`; at the end of the list it appends. */
  insertMessage(index: number, message: AgentMessage): void {
    if (index >= this.messages.length) return this.putMessage(this.messages.length, message);
    const messages = this.#writableMessages();
    messages.splice(index, 0, message);
    forgetPositions(messages);
    this.changes?.push({ op: "insert-message", index, message });
  }

  putCall(id: string, record: ToolCallRecord): void {
    this.toolCalls = this.#ownToolCalls ??= Object.assign({}, this.toolCalls);
    this.#ownToolCalls[id] = record;
    this.changes?.push({ op: "put-call", id, record });
  }

  addEntry(entry: ContextEntry): void {
    this.putEntry(this.transcript.length, entry);
  }

  putEntry(index: number, entry: ContextEntry): void {
    this.transcript = this.#ownTranscript ??= this.transcript.slice();
    this.#ownTranscript[index] = entry;
    this.changes?.push({ op: "put-entry", index, entry });
  }

  addContextCalls(ids: readonly string[]): void {
    if (this.#ownContextCalls === undefined) {
      this.#ownContextCalls = this.reActContext.toolCallIds.slice();
      this.#writableContext().toolCallIds = this.#ownContextCalls;
    }
    this.#ownContextCalls.push(...ids);
    this.changes?.push({ op: "add-context-calls", ids });
  }

  setContext(fields: Partial<ReActContext>): void {
    Object.assign(this.#writableContext(), fields);
    if (fields.toolCallIds !== undefined) this.#ownContextCalls = undefined;
    this.changes?.push({ op: "set-context", fields });
  }

  set(fields: Partial<StateFields>): void {
    Object.assign(this, fields);
    this.changes?.push({ op: "set-state", fields });
  }

  /** Records when the state last changed. Not part of the changes: the digest covers the time as part of the input. */
  touch(): void {
    this.updatedAt = this.timestamp;
    this.#writableContext().updatedAt = this.timestamp;
  }

  addUsage(usage: UsageReport | undefined): void {
    if (usage !== undefined) this.#countUsage(usage, { inputTokens: usage.inputTokens ?? 0 });
  }

  /** Adds the usage of a tool. It does not affect `inputTokens`, the length of the agent's own last request. */
  addToolUsage(usage: UsageReport | undefined): void {
    if (usage !== undefined) this.#countUsage(usage, {});
  }

  #countUsage(usage: UsageReport, window: Partial<Pick<ReActContext, "inputTokens">>): void {
    this.set({ usage: addAgentUsage(this.usage, usage) });
    this.setContext({ usage: addAgentUsage(this.reActContext.usage, usage), ...window });
  }

  /** Returns the current state. It is immutable from now on: later writes go to new copies. */
  finished(): AgentState {
    this.#ownMessages = undefined;
    this.#ownToolCalls = undefined;
    this.#ownTranscript = undefined;
    this.#ownContextCalls = undefined;
    this.#ownContext = undefined;
    return {
      version: 1,
      config: this.config,
      messages: this.messages,
      tools: this.tools,
      toolCalls: this.toolCalls,
      toolCallCount: this.toolCallCount,
      transcript: this.transcript,
      reActContext: this.reActContext,
      owner: this.owner,
      opened: this.opened,
      calledLlmAt: this.calledLlmAt,
      updatedAt: this.updatedAt,
      usage: this.usage,
      unreportedUsage: this.unreportedUsage,
    };
  }

  /** Prepares for the next input: clears the moves and changes of the last one. */
  next(): void {
    if (this.moves.length > 0) this.moves = [];
    if (this.changes !== undefined) this.changes = [];
  }

  #writableMessages(): AgentMessage[] {
    this.messages = this.#ownMessages ??= copyOfMessages(this.messages);
    return this.#ownMessages;
  }

  #writableContext(): Mutable<ReActContext> {
    this.reActContext = this.#ownContext ??= { ...this.reActContext };
    return this.#ownContext;
  }
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
