import type { AgentMessage } from "@moora/agent-webui-protocol";
import { recordOf, transcriptOf } from "./collections/state-lists.ts";
import { openCallOf } from "./collections/open-call-list.ts";
import type { DataPatch } from "./data/patches.ts";
import type { Control, OpenCall } from "./control/control.ts";
import type { AgentState, ContextEntry, ReActContext, ToolCallRecord } from "./state.ts";

/**
 * One change of a state, as data: what an input has changed in the end, without what it wrote on the way. Digests of records
 * and patches for viewers are computed from changes. `updatedAt` is not part of them: it is the time of the input.
 */
export type AgentChange =
  | { readonly op: "put-message"; readonly index: number; readonly message: AgentMessage }
  | { readonly op: "insert-message"; readonly index: number; readonly message: AgentMessage }
  | { readonly op: "put-entry"; readonly index: number; readonly entry: ContextEntry }
  | { readonly op: "put-call"; readonly id: string; readonly record: ToolCallRecord }
  | { readonly op: "add-context-calls"; readonly ids: readonly string[] }
  | { readonly op: "add-queued"; readonly entries: readonly ContextEntry[] }
  | { readonly op: "put-open-call"; readonly call: OpenCall }
  | { readonly op: "remove-open-call"; readonly id: string }
  | { readonly op: "set-context"; readonly fields: Partial<ReActContext> }
  | { readonly op: "patch-data"; readonly patches: readonly DataPatch[] }
  | { readonly op: "set-state"; readonly fields: Partial<StateFields> };

/** The fields of a state that are replaced as a whole. */
export type StateFields = Pick<AgentState, (typeof stateFields)[number]>;

const stateFields = [
  "config",
  "tools",
  "toolCallCount",
  "owner",
  "opened",
  "calledLlmAt",
  "usage",
  "unreportedUsage",
  "dataStatus",
  "activeAgent",
  "paused",
  "ladders",
  "schedules",
] as const;

const contextFields = [
  "contextWindowSize",
  "loop",
  "step",
  "stepLimit",
  "retryCount",
  "truncatedCount",
  "summariesFailed",
  "confidence",
  "usage",
  "inputTokens",
  "windowStart",
  "widen",
  "windowCount",
  "seen",
  "clearedUntil",
  "summarizedAt",
  "counted",
  "suspect",
  "foundTools",
  "loopStart",
  "entries",
  "entriesSincePlan",
  "startedAt",
  "lateReservations",
] as const satisfies readonly (keyof ReActContext)[];

/** What a state contained before an input. */
export type Before = StateFields & Pick<AgentState, "reActContext">;

type MessageChange = Extract<AgentChange, { op: "put-message" | "insert-message" }>;

/** Fields of the context that inputs extend. An extension is recorded as such, unless the field was replaced before. */
type ExtendedField = "control" | "toolCallIds" | "queued";

/** Records what an input writes. The changes are computed from it when they are read. */
export class Written {
  readonly #before: Before;
  #messages: MessageChange[] | undefined;
  #entries: number[] | undefined;
  #calls: string[] | undefined;
  #openCalls: string[] | undefined;
  #contextCalls: string[] | undefined;
  #queued: ContextEntry[] | undefined;
  #dataPatches: readonly DataPatch[] | undefined;
  #replaced: ExtendedField[] | undefined;

  constructor(before: Before) {
    this.#before = before;
  }

  message(change: MessageChange): void {
    (this.#messages ??= []).push(change);
  }

  entry(index: number): void {
    (this.#entries ??= []).push(index);
  }

  call(id: string): void {
    (this.#calls ??= []).push(id);
  }

  openCall(id: string): void {
    (this.#openCalls ??= []).push(id);
  }

  contextCalls(ids: readonly string[]): void {
    (this.#contextCalls ??= []).push(...ids);
  }

  queued(entry: ContextEntry): void {
    (this.#queued ??= []).push(entry);
  }

  data(patches: readonly DataPatch[]): void {
    this.#dataPatches = patches;
  }

  replaced(field: ExtendedField): void {
    (this.#replaced ??= []).push(field);
  }

  /** The changes that led to this state, in a fixed order. */
  changesIn(state: AgentState): readonly AgentChange[] {
    const changes: AgentChange[] = this.#messages?.slice() ?? [];
    for (const index of unique(this.#entries)) {
      const entry = transcriptOf(state).at(index);
      if (entry !== undefined) changes.push({ op: "put-entry", index, entry });
    }
    for (const id of unique(this.#calls)) {
      const record = recordOf(state, id);
      if (record !== undefined) changes.push({ op: "put-call", id, record });
    }
    this.#addExtensions(changes, state.reActContext.control);
    const context = this.#changedContext(state.reActContext);
    if (context !== undefined) changes.push({ op: "set-context", fields: context });
    if (this.#dataPatches !== undefined) changes.push({ op: "patch-data", patches: this.#dataPatches });
    const fields = changedFields(this.#before, state, stateFields);
    if (fields !== undefined) changes.push({ op: "set-state", fields });
    return changes;
  }

  #addExtensions(changes: AgentChange[], control: Control): void {
    if (this.#extends("toolCallIds") && this.#contextCalls !== undefined)
      changes.push({ op: "add-context-calls", ids: this.#contextCalls });
    if (this.#extends("queued") && this.#queued !== undefined)
      changes.push({ op: "add-queued", entries: this.#queued });
    if (!this.#extends("control")) return;
    for (const id of unique(this.#openCalls)) {
      const call = openCallOf(control, id);
      changes.push(call === undefined ? { op: "remove-open-call", id } : { op: "put-open-call", call });
    }
  }

  #changedContext(context: ReActContext): Partial<ReActContext> | undefined {
    const changed = changedFields(this.#before.reActContext, context, contextFields);
    if (this.#replaced === undefined) return changed;
    const replaced = changedFields(this.#before.reActContext, context, this.#replaced);
    return replaced === undefined ? changed : { ...changed, ...replaced };
  }

  #extends(field: ExtendedField): boolean {
    return this.#replaced?.includes(field) !== true;
  }
}

const unique = <Item>(items: readonly Item[] | undefined): Iterable<Item> =>
  items === undefined || items.length < 2 ? (items ?? []) : new Set(items);

/** The fields that differ, with the values after the change; undefined if there are none. */
function changedFields<Whole extends object, Field extends keyof Whole>(
  before: Pick<Whole, Field>,
  after: Whole,
  fields: readonly Field[],
): Partial<Whole> | undefined {
  let changed: Partial<Whole> | undefined;
  for (const field of fields) {
    if (before[field] === after[field]) continue;
    changed ??= {};
    changed[field] = after[field];
  }
  return changed;
}
