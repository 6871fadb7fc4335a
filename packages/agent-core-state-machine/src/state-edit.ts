import type { AgentMessage, Json } from "@moora/agent-webui-protocol";
import { isPlanned, type AgentConfig } from "./agent-config.ts";
import { countedTokens } from "./control/context-sizes.ts";
import { Written, type AgentChange, type StateFields } from "./changes.ts";
import { createState, freezeElements } from "./collections/finished-state.ts";
import { ListsEdit } from "./collections/lists-edit.ts";
import { listsKey } from "./collections/state-lists.ts";
import { putCall } from "./collections/open-call-list.ts";
import { frozen } from "./data/frozen.ts";
import type { OpenCall } from "./control/control.ts";
import type { DataPatch } from "./data/patches.ts";
import type {
  AgentState,
  ContextEntry,
  Ladder,
  ReActContext,
  ToolCallRecord,
  ToolDefinition,
} from "./state.ts";
import type { TraceNote } from "./trace-note.ts";
import type { Sentence } from "./wording.ts";
import { addAgentUsage, type AgentUsage, type UsageReport } from "./usage.ts";

/** A tool call in the memory of an agent. `observation` is null while the call is open. */
export interface MemoryCall {
  readonly toolCallId: string;
  readonly name: string;
  readonly parameters: string;
  /** "SUCCESS: ...", or "ERROR: tool-error: ..." with the code of the error. */
  readonly observation: string | null;
  /** Null while the call is open. */
  readonly success: boolean | null;
}

/** One move along an edge of the control graph. */
export interface ControlMove {
  readonly from: string;
  readonly event: string;
  readonly to: string;
  readonly loop: number;
  readonly step: number;
  readonly timestamp: number;
  /** The note of the handler whose decision this move is, if it has made one. */
  readonly note?: TraceNote;
  /** The calls of the turn, with what they have returned by then, for an event about calls such as `LlmToolCall` or `ToolSuccess`. */
  readonly calls?: readonly MemoryCall[];
}

/**
 * A state that inputs are changing. Only this class writes states. It can be read like a state. The elements that it writes are frozen if
 * those of the state are; those of a state that a store of the application observes are not, and belong to the application.
 *
 * What is changed is copied at the first write and written in place after that; elements are replaced, not changed. An
 * edit that finishes after each input is persistent: the states that it has returned do not change. An edit that applies
 * many inputs before it finishes works in place, on its own collections.
 */
export class StateEdit implements AgentState {
  readonly version = 1;
  config: AgentConfig;
  tools: Readonly<Record<string, ToolDefinition>>;
  toolCallCount: number;
  reActContext: ReActContext;
  owner: string | null;
  opened: number;
  calledLlmAt: number;
  updatedAt: number;
  usage: AgentUsage;
  unreportedUsage: readonly string[];
  data: unknown;
  dataStatus: AgentState["dataStatus"];
  declare activeAgent?: string;
  declare paused?: Exclude<AgentState["paused"], undefined>;
  declare ladders?: readonly Ladder[];
  declare schedules?: Exclude<AgentState["schedules"], undefined>;
  readonly [listsKey]: ListsEdit;

  /** The timestamp of the current input. */
  timestamp = 0;
  moves: ControlMove[] = [];

  /** What the current input has written; undefined if its changes are not needed. */
  #written: Written | undefined;
  #ownContext: Mutable<ReActContext> | undefined;
  #ownContextCalls: string[] | undefined;
  /** When the elements that are written are frozen: at once, when the state is finished for the first time, or never. */
  #freezes: "at-once" | "at-end" | "never";

  /** `records`: whether changes are recorded. `folds`: whether many inputs are applied before the first state is read. */
  constructor(state: AgentState, { records = false, folds = false } = {}) {
    this.config = state.config;
    this.tools = state.tools;
    this.toolCallCount = state.toolCallCount;
    this.reActContext = state.reActContext;
    this.owner = state.owner;
    this.opened = state.opened;
    this.calledLlmAt = state.calledLlmAt;
    this.updatedAt = state.updatedAt;
    this.usage = state.usage;
    this.unreportedUsage = state.unreportedUsage;
    this.data = state.data;
    this.dataStatus = state.dataStatus;
    if (state.activeAgent !== undefined) this.activeAgent = state.activeAgent;
    if (state.paused !== undefined) this.paused = state.paused;
    if (state.ladders !== undefined) this.ladders = state.ladders;
    if (state.schedules !== undefined) this.schedules = state.schedules;
    this[listsKey] = new ListsEdit(state);
    this.#written = records ? new Written(state) : undefined;
    this.#ownContext = undefined;
    this.#ownContextCalls = undefined;
    this.#freezes = !Object.isFrozen(state.config) ? "never" : folds ? "at-end" : "at-once";
  }

  /** All messages as an array. Inside the core, use `messagesOf`, which does not create one. */
  get messages(): readonly AgentMessage[] {
    return this[listsKey].messages.slice();
  }

  /** All entries as an array. Inside the core, use `transcriptOf`, which does not create one. */
  get transcript(): readonly ContextEntry[] {
    return this[listsKey].transcript.slice();
  }

  /** All calls as an object. Inside the core, use `recordOf`, which does not create one. */
  get toolCalls(): Readonly<Record<string, ToolCallRecord>> {
    return this.finished().toolCalls;
  }

  putMessage(index: number, message: AgentMessage): void {
    this[listsKey].putMessage(index, this.#frozen(message));
    this.#written?.message({ op: "put-message", index, message });
  }

  addMessage(message: AgentMessage): void {
    this.putMessage(this[listsKey].messages.length, message);
  }

  /** Inserts a message before the one at `index`; at the end of the list it appends. */
  insertMessage(index: number, message: AgentMessage): void {
    if (index >= this[listsKey].messages.length) return this.addMessage(message);
    this[listsKey].insertMessage(index, this.#frozen(message));
    this.#written?.message({ op: "insert-message", index, message });
  }

  putCall(id: string, record: ToolCallRecord): void {
    this[listsKey].putCall(id, this.#frozen(record));
    this.#written?.call(id);
  }

  addEntry(entry: ContextEntry): void {
    this.putEntry(this[listsKey].transcript.length, entry);
  }

  /** Adds a note of the reducer for the model, with what was said, if the sentence has it. */
  addNote(says: Sentence, text = ""): void {
    this.addEntry({ type: "note", text, says });
  }

  putEntry(index: number, entry: ContextEntry): void {
    this[listsKey].putEntry(index, this.#frozen(entry));
    this.#written?.entry(index);
  }

  addContextCalls(ids: readonly string[]): void {
    if (this.#ownContextCalls === undefined) {
      this.#ownContextCalls = [...this.reActContext.toolCallIds];
      this.#writableContext().toolCallIds = this.#ownContextCalls;
    }
    this.#ownContextCalls.push(...ids);
    this.#written?.contextCalls(ids);
  }

  addQueued(entry: ContextEntry): void {
    this.#writableContext().queued = this.#frozen([...this.reActContext.queued, entry]);
    this.#written?.queued(entry);
  }

  /** Replaces the open call with the same id. Does nothing if the call is not open. */
  putOpenCall(call: OpenCall): void {
    this.#replaceOpenCall(call.id, this.#frozen(call));
  }

  /** Removes an open call. Does nothing if the call is not open. */
  removeOpenCall(id: string): void {
    this.#replaceOpenCall(id, undefined);
  }

  /** Replaces the application data by what patches make of it. `version`: its new version. */
  setData(data: Json, patches: readonly DataPatch[], version?: number): void {
    this.data = data;
    this.dataStatus = this.#frozen({ version: version ?? this.dataStatus?.version ?? 0, isShown: false });
    if (patches.length > 0) this.#written?.data(patches);
  }

  setContext(fields: Partial<ReActContext>): void {
    Object.assign(this.#writableContext(), this.#withFrozenFields(fields));
    if (fields.control !== undefined) this.#written?.replaced("control");
    if (fields.toolCallIds !== undefined) {
      this.#ownContextCalls = undefined;
      this.#written?.replaced("toolCallIds");
    }
    if (fields.queued !== undefined) this.#written?.replaced("queued");
  }

  set(fields: Partial<StateFields>): void {
    Object.assign(this, this.#withFrozenFields(fields));
  }

  /** Records when the state last changed. Not part of the changes: the digest covers the time as part of the input. */
  touch(): void {
    this.updatedAt = this.timestamp;
    this.#writableContext().updatedAt = this.timestamp;
  }

  addUsage(usage: UsageReport | undefined): void {
    if (usage === undefined) return;
    this.addToolUsage(usage);
    const { inputTokens = 0 } = usage;
    if (!isPlanned(this.config)) this.#writableContext().inputTokens = inputTokens;
    else if (this.reActContext.control.type === "Planning" && inputTokens > 0)
      this.setContext(countedTokens(this.reActContext, inputTokens));
  }

  /** Adds the usage of a tool. It does not affect `inputTokens`, the length of the agent's own last request. */
  addToolUsage(usage: UsageReport | undefined): void {
    if (usage === undefined) return;
    this.usage = this.#frozen(addAgentUsage(this.usage, usage));
    this.#writableContext().usage = this.#frozen(addAgentUsage(this.reActContext.usage, usage));
  }

  /** Returns the current state. It is immutable from now on: later writes go to new copies. */
  finished(): AgentState {
    this.#disown();
    const lists = this[listsKey].finish(this.toolCallCount);
    if (this.#freezes === "at-end") {
      this.#freezes = "at-once";
      freezeElements(this, lists);
    }
    return createState(this, lists);
  }

  /** The changes of the current input. None if they are not recorded. */
  changes(): readonly AgentChange[] {
    return this.#written?.changesIn(this) ?? [];
  }

  /** Prepares for the next input: clears the moves of the last one, and what it has written. */
  next(): void {
    if (this.moves.length > 0) this.moves = [];
    if (this.#written === undefined) return;
    this.#disown();
    const { config, tools, toolCallCount, owner, opened, calledLlmAt, usage, unreportedUsage, dataStatus } =
      this;
    const { reActContext, activeAgent, paused, ladders, schedules } = this;
    this.#written = new Written({
      config,
      tools,
      toolCallCount,
      owner,
      opened,
      calledLlmAt,
      usage,
      unreportedUsage,
      dataStatus,
      reActContext,
      ...(activeAgent === undefined ? {} : { activeAgent }),
      ...(paused === undefined ? {} : { paused }),
      ...(ladders === undefined ? {} : { ladders }),
      ...(schedules === undefined ? {} : { schedules }),
    });
  }

  #frozen<Value>(value: Value): Value {
    return this.#freezes === "at-once" ? frozen(value) : value;
  }

  #withFrozenFields<Fields extends object>(fields: Fields): Fields {
    if (this.#freezes === "at-once") for (const name in fields) frozen(fields[name]);
    return fields;
  }

  #disown(): void {
    this.#ownContext = undefined;
    this.#ownContextCalls = undefined;
  }

  #writableContext(): Mutable<ReActContext> {
    this.reActContext = this.#ownContext ??= { ...this.reActContext };
    return this.#ownContext;
  }

  /** Puts `call` in the place of the open call with this id, or nothing. Does nothing if the call is not open. */
  #replaceOpenCall(id: string, call: OpenCall | undefined): void {
    const { control } = this.reActContext;
    const changed = putCall(control, id, call);
    if (changed === control) return;
    this.#writableContext().control = changed;
    this.#written?.openCall(id);
  }
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
