import type { AgentState } from "../state.ts";
import { frozen } from "../data/frozen.ts";
import { CallTable } from "./call-table.ts";
import { lazy } from "./lazy-property.ts";
import { LongList, toArray } from "./long-list.ts";
import { openCallsOf } from "./open-call-list.ts";
import { finishedListsOf, listsKey, type FinishedLists } from "./state-lists.ts";

/** The fields of a state that are not collections. */
export interface StateFields extends Omit<
  AgentState,
  "version" | "messages" | "transcript" | "toolCalls" | "activeAgent" | "paused"
> {
  readonly activeAgent?: string | undefined;
  readonly paused?: AgentState["paused"] | undefined;
}

/**
 * Freezes a state for an application, in place: it cannot be written to. Its elements were frozen when they were written. Frozen arrays
 * are slow to read in JavaScript engines, so a host keeps states as they are, and freezes what it hands out. A state that belongs to the
 * application, because its elements are not frozen, is left as it is.
 */
export function frozenState(state: AgentState): AgentState {
  if (Object.isFrozen(state) || !Object.isFrozen(state.config)) return state;
  const {
    messages,
    transcript,
    calls = state.toolCalls,
  }: Partial<FinishedLists> = finishedListsOf(state) ?? state;
  for (const list of [messages, transcript]) if (!(list instanceof LongList)) Object.freeze(list);
  if (!(calls instanceof CallTable)) Object.freeze(calls);
  frozen(state.reActContext);
  return Object.freeze(state);
}

/** Freezes the elements and the other fields of a state that a fold has written. */
export function freezeElements(fields: StateFields, { messages, transcript, calls }: FinishedLists): void {
  const entries = calls instanceof CallTable ? calls.entries : Object.values(calls);
  for (const list of [messages, transcript, entries, openCallsOf(fields.reActContext.control)])
    for (let index = 0; index < list.length; index += 1) frozen(list.at(index));
  const { config, tools, usage, unreportedUsage, dataStatus, paused, ladders, schedules } = fields;
  frozen([config, tools, usage, unreportedUsage, dataStatus]);
  frozen([paused, ladders, schedules, fields.reActContext]);
}

/**
 * Creates a state. The properties `messages`, `transcript` and `toolCalls` are plain data, except for long collections: those
 * are created as an array or an object when they are read for the first time, once for each version of the collection.
 */
export function createState(fields: StateFields, lists: FinishedLists): AgentState {
  const state = lists.isLong ? longState(fields, lists) : shortState(fields, lists);
  // Each of these is absent until it is needed.
  const { activeAgent, paused, ladders, schedules } = fields;
  if (activeAgent !== undefined) Object.assign(state, { activeAgent });
  if (ladders !== undefined) Object.assign(state, { ladders });
  if (schedules !== undefined) Object.assign(state, { schedules });
  return paused === undefined ? state : Object.assign(state, { paused });
}

/**
 * A copy of a state with other fields, frozen if the state is. The arrays and objects of long collections are still created when they
 * are read.
 */
export function withFields<Fields extends object>(state: AgentState, fields: Fields): AgentState & Fields {
  const lists = finishedListsOf(state);
  const copy = Object.assign(lists === undefined ? { ...state } : createState(state, lists), fields);
  if (!Object.isFrozen(state)) return copy;
  for (const field of Object.values(fields)) frozen(field);
  Object.freeze(copy);
  return copy;
}

function shortState(fields: StateFields, lists: FinishedLists): AgentState {
  return {
    version: 1,
    config: fields.config,
    messages: toArray(lists.messages),
    tools: fields.tools,
    toolCalls: toRecords(lists),
    toolCallCount: fields.toolCallCount,
    transcript: toArray(lists.transcript),
    reActContext: fields.reActContext,
    owner: fields.owner,
    opened: fields.opened,
    calledLlmAt: fields.calledLlmAt,
    updatedAt: fields.updatedAt,
    usage: fields.usage,
    unreportedUsage: fields.unreportedUsage,
    data: fields.data,
    dataStatus: fields.dataStatus,
  };
}

/** A state of the same shape. It is built property by property, because redefining properties is slow. */
function longState(fields: StateFields, lists: FinishedLists): AgentState {
  const state: Partial<Mutable<AgentState>> = { version: 1, config: fields.config };
  if (lists.messages instanceof LongList) Object.defineProperty(state, "messages", lazyMessages);
  else state.messages = lists.messages;
  state.tools = fields.tools;
  if (lists.calls instanceof CallTable) Object.defineProperty(state, "toolCalls", lazyToolCalls);
  else state.toolCalls = lists.calls;
  state.toolCallCount = fields.toolCallCount;
  if (lists.transcript instanceof LongList) Object.defineProperty(state, "transcript", lazyTranscript);
  else state.transcript = lists.transcript;
  state.reActContext = fields.reActContext;
  state.owner = fields.owner;
  state.opened = fields.opened;
  state.calledLlmAt = fields.calledLlmAt;
  state.updatedAt = fields.updatedAt;
  state.usage = fields.usage;
  state.unreportedUsage = fields.unreportedUsage;
  state.data = fields.data;
  state.dataStatus = fields.dataStatus;
  Object.defineProperty(state, listsKey, { value: lists });
  // Every property of a state was set above.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return state as AgentState;
}

const toRecords = ({ calls }: FinishedLists): AgentState["toolCalls"] =>
  calls instanceof CallTable ? calls.toRecords() : calls;

const lazyMessages = lazy(({ messages }: FinishedLists) => toArray(messages));
const lazyTranscript = lazy(({ transcript }: FinishedLists) => toArray(transcript));
const lazyToolCalls = lazy(toRecords);

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
