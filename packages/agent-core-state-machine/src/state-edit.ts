import type { AgentMessage } from "@moora/agent-webui-protocol";
import type { AgentConfig } from "./agent-config.ts";
import { copyOfMessages, forgetPositions } from "./message-index.ts";
import type { AgentState, ContextEntry, ReActContext, ToolCallRecord, ToolDefinition } from "./state.ts";
import { addAgentUsage, type AgentUsage, type UsageReport } from "./usage.ts";

/** One walk along an edge of the control graph. */
export interface ControlMove {
  readonly from: string;
  readonly event: string;
  readonly to: string;
  readonly loop: number;
  readonly step: number;
  readonly timestamp: number;
}

/** One change of a state, as data: the digest of a record and the patches for viewers are made of these. */
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
 * A state while inputs change it: the one place that writes. It reads like a state, as far as it has come.
 *
 * Each collection is copied at its first write and written in place after that; elements are replaced, never changed.
 * So there are two carriers in one: an edit that finishes after each input is persistent, every state it gave stays as
 * it was; an edit that takes many inputs before it finishes works in place, on collections of its own.
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

  /** The time that the present input brought. */
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

  /** Puts a message before the one at `index`; at the end, that is an ordinary append. */
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

  /** Records when the state last changed. Every accepted input does; the digest has the time from the input. */
  touch(): void {
    this.updatedAt = this.timestamp;
    this.#writableContext().updatedAt = this.timestamp;
  }

  addUsage(usage: UsageReport | undefined): void {
    if (usage !== undefined) this.#countUsage(usage, { inputTokens: usage.inputTokens ?? 0 });
  }

  /** What a tool used counts, but says nothing of how much of the window this agent's own requests fill. */
  addToolUsage(usage: UsageReport | undefined): void {
    if (usage !== undefined) this.#countUsage(usage, {});
  }

  #countUsage(usage: UsageReport, window: Partial<Pick<ReActContext, "inputTokens">>): void {
    this.set({ usage: addAgentUsage(this.usage, usage) });
    this.setContext({ usage: addAgentUsage(this.reActContext.usage, usage), ...window });
  }

  /** The state as it is now. It belongs to others from here on: what is written later goes to new copies. */
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

  /** Gets ready for one more input: forgets the moves and changes of the last one. */
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
