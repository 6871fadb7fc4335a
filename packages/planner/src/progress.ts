import type { Json, JsonObject, LlmMessage } from "@moora/llm";
import { isJsonObject, textToJson } from "@moora/llm/internal";

/** The purpose of a call: the work of a clause, or to find an argument of it. */
export interface CallMark {
  readonly clause: number;
  readonly purpose: "own" | "find";
}

/** A call with its result. Calls of another model have no mark. */
export interface PastCall {
  readonly name: string;
  readonly values: JsonObject;
  readonly isError: boolean;
  readonly content: string;
  readonly mark?: CallMark;
}

/** The progress of the newest request of a conversation. */
export interface Progress {
  readonly text: string;
  /** The calls since the request, in order. */
  readonly calls: readonly PastCall[];
  readonly rounds: number;
  /** Calls before the request. */
  readonly earlier: readonly PastCall[];
  /** The summary of a reflection since the request; "" if there is none. */
  readonly summary: string;
}

const summaryBegin = "Summary of the work so far: ";

export function messagesToProgress(messages: readonly LlmMessage[]): Progress {
  const at = messages.findLastIndex((message) => message.role === "user" && textIn(message) !== "");
  const request = messages[at];
  const since = messages.slice(at + 1);
  const notes = since.flatMap((message) => (message.role === "note" ? [message.text] : []));
  return {
    text: request === undefined ? "" : textIn(request),
    calls: since.flatMap(callsIn),
    rounds: since.filter((message) => message.role === "assistant").length,
    earlier: messages.slice(0, Math.max(0, at)).flatMap(callsIn),
    summary: notes.findLast((text) => text.startsWith(summaryBegin))?.slice(summaryBegin.length) ?? "",
  };
}

function textIn(message: LlmMessage): string {
  if (message.role !== "user") return "";
  return message.content
    .flatMap((piece) => (piece.type === "text" ? [piece.text] : []))
    .join("\n")
    .trim();
}

function callsIn(message: LlmMessage): readonly PastCall[] {
  if (message.role !== "assistant") return [];
  const calls = message.turn.parts.filter((part) => part.type === "tool-call");
  return calls.map((call, index) => {
    const values = textToJson(call.arguments);
    const result = message.results[index] ?? { isError: true, content: "" };
    const mark = markOf(call.raw);
    return {
      name: call.name,
      values: isJsonObject(values) ? values : {},
      isError: result.isError,
      content: result.content,
      ...(mark !== undefined && { mark }),
    };
  });
}

function markOf(raw: Json | undefined): CallMark | undefined {
  if (!isJsonObject(raw)) return undefined;
  const { clause, purpose } = raw;
  return typeof clause === "number" && (purpose === "own" || purpose === "find")
    ? { clause, purpose }
    : undefined;
}
