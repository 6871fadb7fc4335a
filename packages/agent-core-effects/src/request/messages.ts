import type { AgentMessage, AgentState, ContextEntry } from "@moora/agent-core-state-machine";
import {
  callIdsOfEntry,
  hasSameCalls,
  hiddenRanges,
  isSameRange,
  isVisible,
  ladderAt,
  messageOf,
  newestTurnIn,
  sentenceToText,
  transcriptOf,
  wording,
  type Ladder,
  hasFilesLeftOut,
} from "@moora/agent-core-state-machine/internal";
import type { LlmContent, LlmMessage, LlmPart } from "@moora/llm";
import { refersToFiles } from "./file-references.ts";
import { loadedCallsToMessage, turnToMessage } from "./turn-to-message.ts";
import { fileToName, mapFiles } from "@moora/llm/internal";

/**
 * The messages of the next plan. They follow the rules that all providers share: the first message is the user's, the last
 * one is not the assistant's, each call has its result directly after its turn, no text is blank, ids are unique, no turn
 * ends in reasoning, arguments are an object, and an empty result has a text.
 */
export function messagesAt(state: AgentState, cache?: LlmRequestCache): readonly LlmMessage[] {
  const { messages } = lineageAt(state, cache);
  const last = messages.at(-1);
  return last !== undefined && isAnswer(last) ? [...messages, continueNote] : messages.slice();
}

/** Whether the window contains entries that the model does not see, because they are summarized or withheld. */
export const hidesEntriesAt = (state: AgentState, cache?: LlmRequestCache): boolean =>
  lineageAt(state, cache).hidesEntries;

/** Whether the messages of a state contain a file that is neither data nor a data URL, so that its bytes may be in a store. */
export const messagesReferToFiles = (state: AgentState, cache?: LlmRequestCache): boolean =>
  lineageAt(state, cache).refersToFiles;

/** The note after a turn without calls that no message follows: a custom state may plan again without a note. */
const continueNote: LlmMessage = { role: "note", text: "Go on." };

const isAnswer = (message: LlmMessage): boolean =>
  message.role === "assistant" && message.results.length === 0;

/** The messages of a window, with everything that they were computed from. */
interface Lineage {
  /** The state of the messages. For the same state nothing has to be compared. */
  readonly of: AgentState;
  readonly windowStart: number;
  readonly seen: number;
  readonly messages: LlmMessage[];
  readonly callIds: string[];
  readonly userIds: string[];
  readonly users: (AgentMessage | undefined)[];
  readonly hidesEntries: boolean;
  readonly refersToFiles: boolean;
  readonly ladder: Ladder | undefined;
  readonly clearedUntil: number;
}

/** Returns the lineage of a state, which is the last one of the cache from now on. */
let lineageIn: (cache: LlmRequestCache, state: AgentState) => Lineage;

/**
 * What the last request of a session was computed from. The next request extends it, so that only new entries are mapped.
 * Everything that the messages depend on is compared first: a cache never changes a request, only its cost. Give each session
 * its own, as `requests` of its `EffectHost`.
 */
export class LlmRequestCache {
  #last: Lineage | undefined;

  static {
    lineageIn = (cache, state) => {
      const known = cache.#last;
      if (known?.of === state) return known;
      if (known !== undefined && known.seen === state.reActContext.seen && isPrefix(known, state))
        return known;
      return (cache.#last = newLineage(state, known));
    };
  }
}

const lineageAt = (state: AgentState, cache?: LlmRequestCache): Lineage =>
  lineageIn(cache ?? sharedCache(state), state);

/**
 * The caches of callers without one of their own, by the first entry of the window. A session has its own, which ends with it:
 * what a `WeakMap` contains is freed only when the whole heap is collected.
 */
const sharedCaches = new WeakMap<ContextEntry, LlmRequestCache>();

function sharedCache(state: AgentState): LlmRequestCache {
  const first = transcriptOf(state).at(state.reActContext.windowStart);
  const known = first === undefined ? undefined : sharedCaches.get(first);
  if (known !== undefined) return known;
  const cache = new LlmRequestCache();
  if (first !== undefined) sharedCaches.set(first, cache);
  return cache;
}

function newLineage(state: AgentState, known: Lineage | undefined): Lineage {
  const { windowStart, seen } = state.reActContext;
  const extended =
    known !== undefined &&
    known.messages.length > 0 &&
    // Another turn is the newest one.
    known.ladder?.raw !== "earlier" &&
    isPrefix(known, state) &&
    onlyAdds(state, known.seen);
  return extended
    ? mapped(state, known, known.seen, [])
    : mapped(state, undefined, windowStart, hiddenRanges(state, windowStart, seen));
}

function isPrefix(known: Lineage, state: AgentState): boolean {
  const { windowStart, seen, clearedUntil = 0 } = state.reActContext;
  if (known.windowStart !== windowStart || known.seen > seen) return false;
  if (known.clearedUntil !== clearedUntil) return false;
  if (!isSameRung(known.ladder, ladderAt(state))) return false;
  if (!isSameRange(transcriptOf(known.of), transcriptOf(state), windowStart, known.seen)) return false;
  return (
    hasSameCalls(known.of, state, known.callIds) &&
    known.userIds.every((id, index) => messageOf(state, id) === known.users[index])
  );
}

const isSameRung = (a: Ladder | undefined, b: Ladder | undefined): boolean =>
  a === b ||
  (a?.raw === b?.raw && a?.files?.since === b?.files?.since && a?.files?.until === b?.files?.until);

/** Whether an entry hides earlier ones. */
const hides = (entry: ContextEntry | undefined): boolean =>
  entry?.type === "summary" || entry?.type === "handoff";

/** Whether the new entries only add messages. An entry that hides earlier ones means that all are mapped again. */
function onlyAdds(state: AgentState, from: number): boolean {
  const transcript = transcriptOf(state);
  for (let index = from; index < state.reActContext.seen; index += 1)
    if (hides(transcript.at(index))) return false;
  return true;
}

type Hidden = ReturnType<typeof hiddenRanges>;

function mapped(state: AgentState, known: Lineage | undefined, from: number, hidden: Hidden): Lineage {
  const transcript = transcriptOf(state);
  const { windowStart, seen, clearedUntil = 0 } = state.reActContext;
  // The lists of the older lineage are extended in place: nothing else uses them.
  const messages: LlmMessage[] = known?.messages ?? [];
  const callIds: string[] = known?.callIds ?? [];
  const userIds: string[] = known?.userIds ?? [];
  const users: Lineage["users"] = known?.users ?? [];
  let hidesEntries = known?.hidesEntries ?? false;
  const firstNew = messages.length;
  const leading: LlmMessage[] = [];
  const ladder = ladderAt(state);
  const rung = ladder === undefined ? undefined : { ladder, newestTurn: newestTurnIn(state) };
  for (let index = from; index < seen; index += 1) {
    for (const range of hidden) {
      if (range.type === "summary" && Math.max(range.until, from) === index)
        addMessage(messages, leading, summaryMessage(range.text));
    }
    const entry = transcript.at(index);
    if (entry === undefined) continue;
    hidesEntries ||= entry.type === "summary" || entry.withheld === true;
    if (!isVisible(entry, index, hidden) || entry.type === "summary") continue;
    const message = entryToMessage(state, index, entry);
    const isLowered = message !== undefined && rung !== undefined;
    addMessage(messages, leading, isLowered ? loweredMessage(message, index, rung) : message);
    callIds.push(...callIdsOfEntry(entry));
    if (entry.type !== "message") continue;
    userIds.push(entry.messageId);
    users.push(messageOf(state, entry.messageId));
  }
  const refers = known?.refersToFiles === true || messages.slice(firstNew).some(refersToFiles);
  return {
    of: state,
    windowStart,
    seen,
    messages,
    callIds,
    userIds,
    users,
    hidesEntries,
    refersToFiles: refers,
    ladder,
    clearedUntil,
  };
}

/** How the note with a summary begins. */
export const summaryStart = "Summary of the work so far: ";

/** A summary stands where the entries stood that it replaces. */
const summaryMessage = (text: string): LlmMessage => ({ role: "note", text: summaryStart + text });

/** Whether a message is a summary in place of others. */
export const isSummary = (message: LlmMessage): boolean =>
  message.role === "note" && message.text.startsWith(summaryStart);

/** Adds a message. The first message is the user's: notes before it are moved directly after it. */
function addMessage(messages: LlmMessage[], leading: LlmMessage[], message: LlmMessage | undefined): void {
  const last = messages.at(-1);
  if (message === undefined) return;
  if (last === undefined && message.role !== "user") {
    if (message.role === "note") leading.push(message);
    return;
  }
  if (last === undefined) return void messages.push(message, ...leading);
  if (message.role === "assistant" && isAnswer(last)) messages.push(continueNote);
  messages.push(message);
}

function entryToMessage(
  state: AgentState,
  index: number,
  entry: Exclude<ContextEntry, { type: "summary" }>,
): LlmMessage | undefined {
  switch (entry.type) {
    case "message":
      return userMessage(state, entry.messageId);
    case "note":
      return { role: "note", text: sentenceToText(entry.says, entry.text) };
    case "handoff":
      return { role: "note", text: wording.handedOver(entry.from, entry.message) };
    case "tool-calls":
      return loadedCallsToMessage(state, index, entry.toolCallIds);
    case "turn":
      return turnToMessage(state, index, entry);
  }
}

function userMessage(state: AgentState, id: string): LlmMessage | undefined {
  const message = messageOf(state, id);
  if (message === undefined) return undefined;
  const text: LlmContent[] = message.content.trim() === "" ? [] : [{ type: "text", text: message.content }];
  const files = (message.attachments ?? []).map((file): LlmContent => ({ type: "file", file }));
  const content = [...text, ...files];
  return content.length === 0 ? undefined : { role: "user", content };
}

/** A message on the rung of the ladder that requests to the model are on: without what its provider has refused. */
function loweredMessage(
  message: LlmMessage,
  index: number,
  { ladder, newestTurn }: { readonly ladder: Ladder; readonly newestTurn: number },
): LlmMessage {
  const isNeutral = ladder.raw === "all" || (ladder.raw === "earlier" && index < newestTurn);
  const neutral = isNeutral && message.role === "assistant" ? neutralMessage(message) : message;
  return hasFilesLeftOut(ladder, index) ? mapFiles(neutral, fileToName) : neutral;
}

/** A turn without what only its origin can read: a turn of no origin. */
function neutralMessage({ turn, ...message }: Extract<LlmMessage, { role: "assistant" }>): LlmMessage {
  const parts = turn.parts.flatMap((part): readonly LlmPart[] => {
    if (part.type === "reasoning" || part.type === "opaque") return [];
    const { raw: _, ...rest } = part;
    return [rest];
  });
  return { ...message, turn: { origin: "", parts } };
}
