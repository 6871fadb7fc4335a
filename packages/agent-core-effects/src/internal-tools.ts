import {
  failureText,
  type AddToolCallsToContextInput,
  type AgentState,
  type ExpandContextWindowInput,
  type ToolsFoundInput,
} from "@moora/agent-core-state-machine";
import {
  callIdsOf,
  hiddenAmong,
  offeredToolsAt,
  recordOf,
  toolOf,
  transcriptOf,
} from "@moora/agent-core-state-machine/internal";
import type { JsonObject, LlmTool } from "@moora/llm";
import { namedCallId } from "./call-id.ts";
import { oneLine } from "./one-line.ts";
import { hidesEntriesAt, type LlmRequestCache } from "./request/messages.ts";
import { searchTools } from "./request/search-tools.ts";
import { truncated } from "./truncate.ts";
import { parseArguments } from "./tool/parse-arguments.ts";

const schemaOf = (properties: JsonObject, required: readonly string[]): JsonObject => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

/** The internal tool that finds tools which requests do not offer. */
export const searchToolName = "search_tools";

/** The internal tools, with which the model extends its context. Their calls are answered from the state; no tool runs. */
export const internalTools: readonly LlmTool[] = [
  {
    name: "load_older_messages",
    description:
      "Brings older messages of this conversation, which no longer fit the window, back into view.",
    schema: schemaOf({}, []),
  },
  {
    name: "find_tool_calls",
    description:
      "Finds earlier tool calls of this conversation whose name, arguments or result contain a text.",
    schema: schemaOf(
      { text: { type: "string", description: "What to look for; empty for the newest calls." } },
      ["text"],
    ),
  },
  {
    name: "load_tool_results",
    description: "Brings the full results of earlier tool calls back into view, by their ids.",
    schema: schemaOf({ ids: { type: "array", items: { type: "string" } } }, ["ids"]),
  },
  {
    name: searchToolName,
    description:
      "Finds further tools by their names and descriptions. You have more tools than you see here: before you say that " +
      "you cannot do something, search for it. You can call what is found from your next turn on.",
    schema: schemaOf(
      {
        query: {
          type: "string",
          description: "What the tool does, in a few words, or its name; empty for a list of names.",
        },
      },
      ["query"],
    ),
  },
];

/** Whether the model searches for tools, so that requests do not offer all. */
export const searchesTools = ({ config: { toolSearch = false } }: AgentState): boolean =>
  toolSearch !== false;

/** Whether a name is that of an internal tool. A tool of the agent replaces an internal one of the same name. */
export const callsInternalTool = (state: AgentState, name: string): boolean =>
  internalTools.some((tool) => tool.name === name) &&
  (name !== searchToolName || searchesTools(state)) &&
  toolOf(state, name) === undefined;

/** The internal tools to offer: the search, and those that load what the request leaves out, if it does. */
export function internalToolsAt(state: AgentState, cache?: LlmRequestCache): readonly LlmTool[] {
  const loads = leavesOut(state, cache);
  if (!loads && !searchesTools(state)) return [];
  return internalTools.filter(
    ({ name }) => (loads || name === searchToolName) && callsInternalTool(state, name),
  );
}

/** Whether there are entries before the window, hidden by a summary, or withheld, or results left out. */
const leavesOut = (state: AgentState, cache?: LlmRequestCache): boolean =>
  state.reActContext.windowStart > 0 ||
  (state.reActContext.clearedUntil ?? 0) > 0 ||
  hidesEntriesAt(state, cache);

/** The result of an internal call: an answer for the model, and the input that changes its context. */
export interface InternalAnswer {
  readonly isError: boolean;
  readonly content: string;
  readonly input?: ExpandContextWindowInput | AddToolCallsToContextInput | ToolsFoundInput;
}

export function answerInternalCall(
  state: AgentState,
  name: string,
  parameters: string,
  timestamp: number,
): InternalAnswer {
  const parsed = parseArguments(parameters);
  if (!parsed.ok) return { isError: true, content: parsed.problem };
  const { text, ids, query } = parsed.value;
  if (name === "load_older_messages") return olderMessages(state, timestamp);
  if (name === "find_tool_calls") return foundCalls(state, text);
  if (name === searchToolName) return foundTools(state, query, timestamp);
  return loadedResults(state, ids, timestamp);
}

function olderMessages(state: AgentState, timestamp: number): InternalAnswer {
  if (state.reActContext.windowStart === 0)
    return { isError: false, content: "All messages of this conversation are in view." };
  return {
    isError: false,
    content: "Older messages are in view from now on.",
    input: { type: "context-window-expanded", timestamp },
  };
}

/** The ids of the calls of the agent that has the conversation, newest first, including those of withheld loops. */
function* newestCalls(state: AgentState): Generator<string> {
  const transcript = transcriptOf(state);
  for (let index = transcript.length - 1; index >= 0; index -= 1) {
    const entry = transcript.at(index);
    if (entry?.type === "handoff") return;
    if (entry?.type === "turn") yield* callIdsOf(entry).toReversed();
  }
}

const maxFound = 20;

function foundCalls(state: AgentState, text: unknown): InternalAnswer {
  if (typeof text !== "string") return { isError: true, content: "The argument text is missing." };
  const lines: string[] = [];
  for (const id of newestCalls(state)) {
    if (lines.length === maxFound) break;
    const record = recordOf(state, id);
    if (record === undefined || record.result === null) continue;
    const { name, parameters, result } = record;
    const shown = result.isSuccess ? result.content : failureText(result);
    if (![name, parameters, shown].some((field) => field.includes(text))) continue;
    lines.push(`${id}: ${name}(${truncated(parameters, 200)}) ${result.isSuccess ? "succeeded" : "failed"}`);
  }
  return { isError: false, content: lines.length === 0 ? "No call was found." : lines.join("\n") };
}

function loadedResults(state: AgentState, ids: unknown, timestamp: number): InternalAnswer {
  // Models also write the numbers of calls. Values of other types are not ids.
  const given: readonly unknown[] = Array.isArray(ids) ? ids : [];
  const known = new Set(newestCalls(state));
  const asked = new Set(
    given
      .filter((id) => typeof id === "string" || typeof id === "number")
      .map((id) => namedCallId(String(id), (text) => known.has(text))),
  );
  const isFinished = (id: string): boolean => known.has(id) && (recordOf(state, id)?.result ?? null) !== null;
  const toolCallIds = [...asked].filter(isFinished);
  if (toolCallIds.length === 0) return { isError: true, content: "None of these ids is a finished call." };
  return {
    isError: false,
    content: `In view from now on: ${toolCallIds.join(", ")}.`,
    input: { type: "history-tool-calls-added", toolCallIds, timestamp },
  };
}

/** The characters of a description in the answer of a search, and the names in one that finds nothing. */
const maxDescription = 200;
const maxNames = 100;
/** The tools that one search finds by default. */
const foundByDefault = 5;

function foundTools(state: AgentState, query: unknown, timestamp: number): InternalAnswer {
  if (typeof query !== "string") return { isError: true, content: "The argument query is missing." };
  const { toolSearch } = state.config;
  const most = typeof toolSearch === "object" ? toolSearch.maxFound : undefined;
  const { always = [], found = [], hidden = [] } = offeredToolsAt(state) ?? {};
  const usable = new Set([...always, ...found, ...hidden]);
  const fitting = searchTools(state.tools, usable, query, most ?? foundByDefault);
  if (fitting.length === 0) return { isError: false, content: namesText(hidden) };
  const lines = fitting.map(({ name, description }) => `${name}: ${oneLine(description, maxDescription)}`);
  const names = hiddenAmong(
    state,
    fitting.map(({ name }) => name),
  );
  const content = `You can call these tools from now on:\n${lines.join("\n")}`;
  if (names.length === 0) return { isError: false, content };
  return { isError: false, content, input: { type: "tools-found", names: [...names], timestamp } };
}

function namesText(names: readonly string[]): string {
  if (names.length === 0) return "No tool was found. There are no others.";
  const more = names.length > maxNames ? `, and ${names.length - maxNames} more` : "";
  return `No tool was found. Search for some of their names: ${names.slice(0, maxNames).join(", ")}${more}.`;
}
