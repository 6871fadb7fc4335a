import {
  messagePosition,
  recordOf,
  type AgentState,
  type ContextEntry,
  type ToolCallRecord,
  type TurnEntry,
  type TurnPart,
} from "@moora/agent-core-state-machine";
import type { LlmContent, LlmMessage, LlmPart, LlmToolResult } from "@moora/llm";
import { visibleEntries } from "./entries.ts";
import { jsonObjectOf } from "./json-object.ts";

/**
 * The messages of the next plan, by the rules that every provider shares: the first is the user's, the last never the
 * assistant's, each call has its result right after its turn, no text is blank, ids are unique, no reasoning stands
 * last, arguments are an object, an empty result says so.
 */
export function messagesAt(state: AgentState): readonly LlmMessage[] {
  const { windowStart, seen } = state.reActContext;
  const messages: LlmMessage[] = [];
  for (const { index, entry } of visibleEntries(state, windowStart, seen)) {
    const message = messageOf(state, index, entry);
    if (message === undefined || (messages.length === 0 && message.role !== "user")) continue;
    if (message.role === "assistant" && endsWithoutUser(messages.at(-1))) messages.push(goOn);
    messages.push(message);
  }
  return endsWithoutUser(messages.at(-1)) ? [...messages, goOn] : messages;
}

/** Between two turns without calls, and after the last one: a state of the user's own may plan again without a word. */
const goOn: LlmMessage = { role: "note", text: "Go on." };

const endsWithoutUser = (message: LlmMessage | undefined): boolean =>
  message?.role === "assistant" && message.results.length === 0;

interface Memo {
  readonly index: number;
  readonly records: readonly (ToolCallRecord | undefined)[];
  readonly message: LlmMessage | undefined;
}

/** A memo beside each turn, good for as long as its results are the same: a long loop maps each of its turns once. */
const memo = new WeakMap<ContextEntry, Memo>();

function messageOf(state: AgentState, index: number, entry: ContextEntry): LlmMessage | undefined {
  switch (entry.type) {
    case "message":
      return userMessage(state, entry.messageId);
    case "note":
      return { role: "note", text: entry.text };
    case "summary":
      return { role: "note", text: `Summary of the work so far: ${entry.text}` };
    case "tool-calls":
      return loadedCalls(state, index, entry.toolCallIds);
    case "turn":
      return remembered(state, index, entry);
  }
}

function remembered(state: AgentState, index: number, turn: TurnEntry): LlmMessage | undefined {
  const known = memo.get(turn);
  if (known !== undefined && known.index === index && sameRecords(state, turn, known.records))
    return known.message;
  const message = turnMessage(state, index, turn);
  const records = turn.parts.flatMap((part) =>
    part.type === "call" ? [recordOf(state, part.toolCallId)] : [],
  );
  memo.set(turn, { index, records, message });
  return message;
}

function sameRecords(state: AgentState, turn: TurnEntry, records: Memo["records"]): boolean {
  let next = 0;
  for (const part of turn.parts)
    if (part.type === "call" && recordOf(state, part.toolCallId) !== records[next++]) return false;
  return true;
}

function userMessage({ messages }: AgentState, id: string): LlmMessage | undefined {
  const message = messages[messagePosition(messages, id)];
  if (message === undefined) return undefined;
  const text: LlmContent[] = message.content.trim() === "" ? [] : [{ type: "text", text: message.content }];
  const files = (message.attachments ?? []).map((file): LlmContent => ({ type: "file", file }));
  const content = [...text, ...files];
  return content.length === 0 ? undefined : { role: "user", content };
}

/** A turn with its results. Without text and calls there is nothing to send, whatever else it had. */
function turnMessage(state: AgentState, index: number, turn: TurnEntry): LlmMessage | undefined {
  const parts = withoutTrailingReasoning(turn.parts).flatMap((part, at) =>
    partOf(state, part, `internal/${index}/${at}`),
  );
  if (!parts.some((part) => part.type === "text" || part.type === "tool-call")) return undefined;
  const raw = turn.raw === undefined ? {} : { raw: turn.raw };
  const results = turn.parts.flatMap((part) => resultOf(state, part));
  return { role: "assistant", turn: { origin: turn.origin, parts, ...raw }, results };
}

function withoutTrailingReasoning(parts: readonly TurnPart[]): readonly TurnPart[] {
  const last = parts.findLastIndex(
    (part) => part.type !== "reasoning" && part.type !== "opaque" && !isBlank(part),
  );
  const tail = parts.slice(last + 1).filter((part) => part.type === "opaque");
  return [...parts.slice(0, last + 1), ...tail];
}

const isBlank = (part: TurnPart): boolean => part.type === "text" && part.text.trim() === "";

function partOf(state: AgentState, part: TurnPart, internalId: string): readonly LlmPart[] {
  switch (part.type) {
    case "text":
      return isBlank(part) ? [] : [part];
    case "reasoning":
    case "opaque":
      return [part];
    case "internal-call":
      return [callPart(internalId, part.name, part.arguments, part.raw)];
    case "call": {
      const record = recordOf(state, part.toolCallId);
      if (record === undefined) return [];
      return [callPart(part.toolCallId, record.name, record.original ?? record.parameters, part.raw)];
    }
  }
}

/** What the model asked for, as it stands; what is no object is shown as an empty one, and the result says why. */
const callPart = (id: string, name: string, text: string, raw: TurnPart["raw"]): LlmPart => ({
  type: "tool-call",
  id,
  name,
  arguments: jsonObjectOf(text) === undefined ? "{}" : text,
  ...(raw === undefined ? {} : { raw }),
});

function resultOf(state: AgentState, part: TurnPart): readonly LlmToolResult[] {
  if (part.type === "internal-call") return [resultText(part.answer.isError, part.answer.content)];
  if (part.type !== "call") return [];
  const record = recordOf(state, part.toolCallId);
  return record === undefined ? [] : [recordResult(record)];
}

function recordResult({ result, original, parameters }: ToolCallRecord): LlmToolResult {
  if (result === null) return resultText(true, "This call has no result.");
  if (!result.isSuccess) return resultText(true, result.error);
  const changed = original === undefined ? "" : `A human changed the arguments to ${parameters}.\n`;
  const shown = resultText(false, changed + result.content);
  return result.files === undefined ? shown : { ...shown, files: result.files };
}

const resultText = (isError: boolean, content: string): LlmToolResult => ({
  isError,
  content: content.trim() === "" ? "(no output)" : content,
});

/** Calls of history that were loaded again: a round of its own, so that their results stay inside result blocks. */
function loadedCalls(state: AgentState, index: number, ids: readonly string[]): LlmMessage | undefined {
  const records = ids.flatMap((id) => recordOf(state, id) ?? []);
  if (records.length === 0) return undefined;
  const parts = records.map(({ name, parameters }, at) =>
    callPart(`loaded/${index}/${at}`, name, parameters, undefined),
  );
  return { role: "assistant", turn: { origin: "", parts }, results: records.map(recordResult) };
}
