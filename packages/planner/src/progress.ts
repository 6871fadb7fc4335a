import { summaryStart } from "@moora/agent-core-effects/internal";
import type { Json, JsonObject, LlmMessage } from "@moora/llm";
import { isJsonObject, textToJson } from "@moora/llm/internal";

/** A call with its result. `step` is the position of its step in the request; undefined for a call of another model. */
export interface PastCall {
  readonly name: string;
  readonly values: JsonObject;
  readonly isError: boolean;
  readonly content: string;
  readonly step: number | undefined;
}

/** The newest request of a conversation, and the calls since. */
export interface Progress {
  readonly text: string;
  readonly calls: readonly PastCall[];
  readonly rounds: number;
  /** The summary since the request; "" without one. */
  readonly summary: string;
}

export function messagesToProgress(messages: readonly LlmMessage[]): Progress {
  const at = messages.findLastIndex((message) => message.role === "user" && textIn(message) !== "");
  const request = messages[at];
  const since = messages.slice(at + 1);
  const notes = since.flatMap((message) => (message.role === "note" ? [message.text] : []));
  const summary = notes.findLast((text) => text.startsWith(summaryStart))?.slice(summaryStart.length) ?? "";
  return {
    text: request === undefined ? "" : textIn(request),
    calls: [...summaryToCalls(summary), ...since.flatMap(callsIn)],
    rounds: since.filter((message) => message.role === "assistant").length,
    summary,
  };
}

function textIn(message: LlmMessage): string {
  if (message.role !== "user") return "";
  const texts = message.content.map((piece) => (piece.type === "text" ? piece.text : ""));
  return texts.join("\n").trim();
}

function callsIn(message: LlmMessage): readonly PastCall[] {
  if (message.role !== "assistant") return [];
  const calls = message.turn.parts.filter((part) => part.type === "tool-call");
  return calls.map((call, index) => {
    const result = message.results[index] ?? { isError: true, content: "" };
    const values = objectOf(call.arguments);
    return {
      name: call.name,
      values,
      isError: result.isError,
      content: result.content,
      step: stepIn(call.raw),
    };
  });
}

const stepIn = (raw: Json | undefined): number | undefined =>
  isJsonObject(raw) && typeof raw["step"] === "number" ? raw["step"] : undefined;

export function objectOf(text: string): JsonObject {
  const json = textToJson(text);
  return isJsonObject(json) ? json : {};
}

/** Characters of one entry of a summary. */
const maxEntryLength = 600;

/** A summary of a history: its calls and what the assistant said, one per line. */
export function historyToSummary(text: string): string {
  const head = "\n\nHistory:\n";
  const history = textToJson(text.slice(text.indexOf(head) + head.length));
  const entries = Array.isArray(history) ? history.map(entryToText) : [text];
  return entries
    .map((entry) => entry.replaceAll(/\s+/g, " ").trim().slice(0, maxEntryLength))
    .filter((entry) => entry !== "")
    .join("\n")
    .toWellFormed();
}

function entryToText(entry: Json): string {
  if (!isJsonObject(entry)) return "";
  const textOf = (name: string): string => (typeof entry[name] === "string" ? entry[name] : "");
  if ("name" in entry) return `Tool ${textOf("name")}(${textOf("parameters")}): ${textOf("observation")}`;
  return "assistant" in entry ? `Assistant: ${textOf("assistant")}` : textOf("summary");
}

const callInSummary =
  /\bTool ([\w-]{1,64})\((\{.*?\})\): (SUCCESS|ERROR): (.*?)(?=\s+Tool [\w-]{1,64}\(\{|$)/gs;

const summaryToCalls = (summary: string): readonly PastCall[] =>
  [...summary.matchAll(callInSummary)].map(([, name = "", parameters = "", state, content = ""]) => ({
    name,
    values: objectOf(parameters),
    isError: state === "ERROR",
    content: content.trim(),
    step: undefined,
  }));
