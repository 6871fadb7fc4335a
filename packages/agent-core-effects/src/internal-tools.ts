import {
  failureText,
  type AddToolCallsToContextInput,
  type AgentState,
  type ExpandContextWindowInput,
} from "@moora/agent-core-state-machine";
import { callIdsOf, recordOf, toolOf, transcriptOf } from "@moora/agent-core-state-machine/internal";
import type { JsonObject, LlmTool } from "@moora/llm";
import { namedCallId } from "./call-id.ts";
import { hidesEntriesAt, type LlmRequestCache } from "./request/messages.ts";
import { truncated } from "./truncate.ts";
import { parseArguments } from "./tool/parse-arguments.ts";

const schemaOf = (properties: JsonObject, required: readonly string[]): JsonObject => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

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
];

/** Whether a name is that of an internal tool. A tool of the agent replaces an internal one of the same name. */
export const callsInternalTool = (state: AgentState, name: string): boolean =>
  internalTools.some((tool) => tool.name === name) && toolOf(state, name) === undefined;

/** Whether to offer the internal tools: there are entries before the window, hidden by a summary, or withheld, or results left out. */
export const wantsInternalTools = (state: AgentState, cache?: LlmRequestCache): boolean =>
  state.reActContext.windowStart > 0 ||
  (state.reActContext.clearedUntil ?? 0) > 0 ||
  hidesEntriesAt(state, cache);

/** The result of an internal call: an answer for the model, and the input that changes its context. */
export interface InternalAnswer {
  readonly isError: boolean;
  readonly content: string;
  readonly input?: ExpandContextWindowInput | AddToolCallsToContextInput;
}

export function answerInternalCall(
  state: AgentState,
  name: string,
  parameters: string,
  timestamp: number,
): InternalAnswer {
  const parsed = parseArguments(parameters);
  if (!parsed.ok) return { isError: true, content: parsed.problem };
  const { text, ids } = parsed.value;
  if (name === "load_older_messages") return olderMessages(state, timestamp);
  if (name === "find_tool_calls") return foundCalls(state, text);
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
