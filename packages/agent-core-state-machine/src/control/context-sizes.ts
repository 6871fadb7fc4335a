import type { AgentAttachment } from "@moora/agent-webui-protocol";
import { messageOf, recordOf, transcriptOf } from "../collections/state-lists.ts";
import type { AgentState, ContextEntry, ReActContext, ToolCallRecord, TurnPart } from "../state.ts";
import { callIdsIn } from "../turn-parts.ts";
import { offeredToolsAt } from "./offered-tools.ts";
import { isVisible, type Hidden } from "./visible-entries.ts";

/** The tokens of the parts of a request, estimated: a quarter of the characters, and 1,000 for each file. */
export interface ContextSizes {
  readonly instructions: number;
  readonly tools: number;
  /** The messages of the user. */
  readonly messages: number;
  /** The turns of the model: its texts, its reasoning and its calls. */
  readonly turns: number;
  /** The results of calls. */
  readonly results: number;
  /** Summaries, notes and handoffs. */
  readonly notes: number;
}

type Sizes = { -readonly [Name in keyof ContextSizes]: number };

const charactersPerToken = 4;
const charactersOfFile = 1_000 * charactersPerToken;

/** In characters. A state has no texts of sentences, so that a correction of one changes no size. */
const sentenceLength = 100;

/** In characters. A shorter result stays: what stands in for it is not much shorter. */
const shortResult = 400;
/** The length of what stands in for a result, in characters. */
const clearedLength = 140;
/** In characters: what a provider needs around a call and its result. */
const aroundCall = 100;

/** Whether requests leave out the result of a call that an entry with this index contains. */
export const isCleared = (
  { reActContext: { clearedUntil = 0 } }: AgentState,
  index: number,
  record: ToolCallRecord,
): boolean => index < clearedUntil && resultLength(record) > shortResult;

/** The tokens that the results of `[from, until)` have, except short ones. */
export function clearableIn(
  state: AgentState,
  from: number,
  until: number,
  hidden: readonly Hidden[],
): number {
  let length = 0;
  eachVisible(state, { from, until, hidden }, (entry) => {
    for (const id of callIdsOfEntry(entry)) {
      const record = recordOf(state, id);
      const own = record === undefined ? 0 : resultLength(record);
      if (own > shortResult) length += own - clearedLength;
    }
  });
  return Math.floor(length / charactersPerToken);
}

/** The ids of the calls whose results an entry contains. */
export function callIdsOfEntry(entry: ContextEntry): readonly string[] {
  if (entry.type === "tool-calls") return entry.toolCallIds;
  if (entry.type !== "turn") return [];
  return callIdsIn(entry.parts);
}

/** The sizes of the instructions and tools, and of the visible entries `[from, until)`. The cost depends on their number. */
export function sizesOf(
  state: AgentState,
  from: number,
  until: number,
  hidden: readonly Hidden[],
): ContextSizes {
  const sizes = sizesIn(state, from, until, hidden);
  const { config, tools } = state;
  const instructions = tokensOf(config.systemPrompt.length + (config.answerSchema?.length ?? 0));
  const { always, found } = offeredToolsAt(state, Infinity) ?? { always: Object.keys(tools), found: [] };
  return { ...sizes, instructions, tools: tokensOfTools(state, [...always, ...found]) };
}

/** The estimated tokens of the definitions of tools. */
export function tokensOfTools({ tools }: AgentState, names: readonly string[]): number {
  let length = 0;
  for (const name of names) {
    const { description, schema } = tools[name] ?? { description: "", schema: "" };
    length += name.length + description.length + schema.length;
  }
  return tokensOf(length);
}

/** The sum of all parts. */
export const tokensIn = (sizes: ContextSizes): number =>
  sizes.instructions + sizes.tools + sizes.messages + sizes.turns + sizes.results + sizes.notes;

/** The sizes of the visible entries `[from, until)`, without instructions and tools. */
export function sizesIn(
  state: AgentState,
  from: number,
  until: number,
  hidden: readonly Hidden[],
): ContextSizes {
  const lengths: Sizes = { instructions: 0, tools: 0, messages: 0, turns: 0, results: 0, notes: 0 };
  eachVisible(state, { from, until, hidden }, (entry, index) => addLengths(lengths, state, index, entry));
  const { messages, turns, results, notes } = lengths;
  return {
    instructions: 0,
    tools: 0,
    messages: tokensOf(messages),
    turns: tokensOf(turns),
    results: tokensOf(results),
    notes: tokensOf(notes),
  };
}

const tokensOf = (characters: number): number => Math.ceil(characters / charactersPerToken);

interface Part {
  readonly from: number;
  readonly until: number;
  readonly hidden: readonly Hidden[];
}

function eachVisible(
  state: AgentState,
  { from, until, hidden }: Part,
  visit: (entry: ContextEntry, index: number) => void,
): void {
  const transcript = transcriptOf(state);
  for (let index = from; index < until; index += 1) {
    const entry = transcript.at(index);
    if (entry !== undefined && isVisible(entry, index, hidden)) visit(entry, index);
  }
}

function addLengths(lengths: Sizes, state: AgentState, index: number, entry: ContextEntry): void {
  switch (entry.type) {
    case "message": {
      const message = messageOf(state, entry.messageId);
      lengths.messages += (message?.content.length ?? 0) + filesLength(message?.attachments);
      return;
    }
    case "note":
      lengths.notes += entry.text.length + sentenceLength;
      return;
    case "summary":
      lengths.notes += entry.text.length;
      return;
    case "handoff":
      lengths.notes += entry.message?.length ?? 0;
      return;
    case "turn":
      for (const part of entry.parts) addPart(lengths, part);
      break;
    case "tool-calls":
  }
  for (const id of callIdsOfEntry(entry)) {
    const record = recordOf(state, id);
    if (record === undefined) continue;
    lengths.turns += aroundCall + record.name.length + (record.original ?? record.parameters).length;
    lengths.results += isCleared(state, index, record) ? clearedLength : resultLength(record);
  }
}

function addPart(lengths: Sizes, part: TurnPart): void {
  if (part.type === "text" || part.type === "reasoning") lengths.turns += part.text.length;
  if (part.type === "file") lengths.turns += charactersOfFile;
  if (part.type !== "internal-call") return;
  lengths.turns += part.name.length + part.arguments.length;
  lengths.results += part.answer.content.length;
}

function resultLength({ result }: ToolCallRecord): number {
  if (result === null) return 0;
  return result.isSuccess
    ? result.content.length + filesLength(result.files)
    : result.error.length + sentenceLength;
}

const filesLength = (files: readonly AgentAttachment[] = []): number => files.length * charactersOfFile;

/** A smaller addition says little of how a provider counts. In tokens. */
const leastAdded = 100;

/** What a count of the provider says: the tokens of the newest request, and how it counts what was added to the one before. */
export function countedTokens(
  { counted }: Pick<ReActContext, "counted">,
  tokens: number,
): Pick<ReActContext, "inputTokens" | "counted"> {
  const { tokens: before = 0, ratio = 1, added = 0 } = counted ?? {};
  const found = added < leastAdded ? ratio : Math.min(8, Math.max(0.5, (tokens - before) / added));
  return { inputTokens: tokens, counted: { tokens, ratio: found, added: 0 } };
}
