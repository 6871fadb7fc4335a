import {
  failureText,
  type AgentState,
  type ToolCallRecord,
  type TurnEntry,
  type TurnPart,
} from "@moora/agent-core-state-machine";
import { isCleared, maxJsonItems, recordOf, wording } from "@moora/agent-core-state-machine/internal";
import type { LlmMessage, LlmPart, LlmToolResult } from "@moora/llm";
import { hasMoreItemsThan } from "@moora/llm/internal";
import { jsonObjectOf } from "./json-object.ts";

/** The message of a turn with its results; undefined for a turn without text, files and calls. */
export function turnToMessage(state: AgentState, index: number, turn: TurnEntry): LlmMessage | undefined {
  const parts: LlmPart[] = [];
  const results: LlmToolResult[] = [];
  let sends = false;
  const end = endOfTurn(turn.parts);
  for (let at = 0; at < turn.parts.length; at += 1) {
    const part = turn.parts[at];
    if (part === undefined || (at >= end && part.type !== "opaque")) continue;
    const made = partOf(state, part, `internal/${index}/${at}`);
    if (made === undefined) continue;
    parts.push(made);
    if (made.type === "text" || made.type === "file" || made.type === "tool-call") sends = true;
    const result = resultOf(state, index, part);
    if (result !== undefined) results.push(result);
  }
  if (!sends) return undefined;
  const raw = turn.raw === undefined ? {} : { raw: turn.raw };
  return { role: "assistant", turn: { origin: turn.origin, parts, ...raw }, results };
}

/** The end of the parts to send: providers refuse reasoning at the end of a turn. */
const endOfTurn = (parts: readonly TurnPart[]): number =>
  parts.findLastIndex((part) => part.type !== "reasoning" && part.type !== "opaque" && !isBlank(part)) + 1;

const isBlank = (part: TurnPart): boolean => part.type === "text" && part.text.trim() === "";

function partOf(state: AgentState, part: TurnPart, internalId: string): LlmPart | undefined {
  switch (part.type) {
    case "text":
      return isBlank(part) ? undefined : part;
    case "reasoning":
    case "file":
    case "opaque":
      return part;
    case "internal-call":
      return callPart(internalId, part.name, part.arguments, part.raw);
    case "call": {
      const record = recordOf(state, part.toolCallId);
      if (record === undefined) return undefined;
      return callPart(part.toolCallId, record.name, record.original ?? record.parameters, part.raw);
    }
  }
}

/** The part of a call with the arguments of the model; `{}` for invalid arguments, whose result contains the reason. */
const callPart = (id: string, name: string, text: string, raw: TurnPart["raw"]): LlmPart => ({
  type: "tool-call",
  id,
  name,
  arguments: hasMoreItemsThan(text, maxJsonItems) || jsonObjectOf(text) === undefined ? "{}" : text,
  ...(raw === undefined ? {} : { raw }),
});

function resultOf(state: AgentState, index: number, part: TurnPart): LlmToolResult | undefined {
  if (part.type === "internal-call") return resultText(part.answer.isError, part.answer.content);
  if (part.type !== "call") return undefined;
  const record = recordOf(state, part.toolCallId);
  return record === undefined ? undefined : shownResult(state, index, part.toolCallId, record);
}

/** The result of a call, or what stands in for it where the plan of the context leaves it out. */
const shownResult = (state: AgentState, index: number, id: string, record: ToolCallRecord): LlmToolResult =>
  isCleared(state, index, record)
    ? resultText(record.result?.isSuccess === false, wording.cleared(id))
    : recordResult(record);

function recordResult({ result, original, parameters }: ToolCallRecord): LlmToolResult {
  if (result === null) return resultText(true, "This call has no result.");
  const isRefused = !result.isSuccess && result.code === "blacklisted";
  const isChanged = original !== undefined && !isRefused;
  const changed = isChanged ? `A human changed the arguments to ${parameters}.\n` : "";
  if (!result.isSuccess) return resultText(true, changed + failureText(result));
  const shown = resultText(false, changed + result.content);
  return result.files === undefined ? shown : { ...shown, files: result.files };
}

const resultText = (isError: boolean, content: string): LlmToolResult => ({
  isError,
  content: content.trim() === "" ? "(no output)" : content,
});

/** The message of calls that were loaded again: a turn of its own, so that their results are in result blocks. */
export function loadedCallsToMessage(
  state: AgentState,
  index: number,
  ids: readonly string[],
): LlmMessage | undefined {
  const records = ids.flatMap((id) => {
    const record = recordOf(state, id);
    return record === undefined ? [] : [{ ...record, shown: shownResult(state, index, id, record) }];
  });
  if (records.length === 0) return undefined;
  const parts = records.map(({ name, parameters, original }, at) =>
    callPart(`loaded/${index}/${at}`, name, original ?? parameters, undefined),
  );
  return { role: "assistant", turn: { origin: "", parts }, results: records.map(({ shown }) => shown) };
}
