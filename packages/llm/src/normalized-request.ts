import {
  defined,
  hasMoreItemsThan,
  isJsonObject,
  isTooDeep,
  maxArgumentItems,
  textToJson,
  withWellFormedText,
  type Json,
  type JsonObject,
} from "./json.ts";
import type {
  LlmContent,
  LlmMessage,
  LlmPart,
  LlmRequest,
  LlmTool,
  LlmToolChoice,
  LlmToolResult,
} from "./request.ts";
import { wireIds, wireNames, type IdFormat } from "./wire-ids.ts";

/** A tool call as it may stand in a request: ids and names fit the dialect, the arguments are an object. */
export interface NormalizedCall {
  readonly type: "tool-call";
  readonly id: string;
  readonly name: string;
  /** JSON text of an object: as the model made it, or `{}` where that was none. */
  readonly arguments: string;
  readonly input: JsonObject;
  readonly raw?: Json;
  readonly result: LlmToolResult;
}

/** `raw` is there only when the turn comes from where the request goes to. */
export type NormalizedPart =
  | { readonly type: "text"; readonly text: string; readonly raw?: Json }
  | { readonly type: "reasoning"; readonly text: string; readonly raw: Json }
  | { readonly type: "opaque"; readonly raw: Json }
  | NormalizedCall;

export type NormalizedMessage =
  | { readonly role: "user"; readonly content: readonly LlmContent[] }
  | { readonly role: "note"; readonly text: string }
  | { readonly role: "assistant"; readonly parts: readonly NormalizedPart[] };

/** A request as any provider takes it: well-formed text, names and ids that fit, a conversation without holes. */
export interface NormalizedRequest extends Pick<
  LlmRequest,
  "model" | "answerSchema" | "parallelToolCalls" | "settings"
> {
  /** Missing when it is blank. */
  readonly system?: string;
  readonly messages: readonly NormalizedMessage[];
  /** Tools and the choice of one go by their names on the wire. */
  readonly tools: readonly LlmTool[];
  readonly toolChoice: LlmToolChoice;
  /** The tool of ours that a name on the wire stands for; a name that nobody gave stays as it is. */
  readonly nameOf: (wireName: string) => string;
  /** Whether raw parts go along, which the provider may refuse. */
  readonly carriesRaw: boolean;
}

export interface NormalizeOptions {
  /** Raw parts go back to this origin only. */
  readonly origin: string;
  /** Leave raw parts out altogether. */
  readonly neutral?: boolean | undefined;
  readonly idFormat?: IdFormat | undefined;
  readonly names?: IdFormat | undefined;
}

/** What the user says where a provider wants the user to speak and the conversation has no word of theirs. */
export const placeholders = { first: "(The conversation goes on.)", next: "(Go on.)" } as const;

const isBlank = (text: string): boolean => text.trim() === "";

/**
 * Makes a request fit to be sent: no blank text, each call answered once and under an id of its own, arguments that are
 * objects, reasoning only where it came from and never at the end of a turn.
 */
export function normalizeRequest(given: LlmRequest, options: NormalizeOptions): NormalizedRequest {
  const {
    model,
    answerSchema,
    parallelToolCalls,
    settings,
    system,
    messages: said,
  } = withWellFormedText(given);
  const toolName = wireNames(options.names);
  const names = new Map(given.tools.map((tool) => [toolName(tool.name), tool.name]));
  const idOf = uniqueIds(options.idFormat);
  const messages = said.flatMap((message) => normalizeMessage(message, options, idOf, toolName));
  const { toolChoice } = given;
  return {
    model,
    parallelToolCalls,
    settings,
    ...defined({ answerSchema, system: isBlank(system) ? undefined : system }),
    messages,
    tools: given.tools.map((tool) => ({ ...withWellFormedText(tool), name: toolName(tool.name) })),
    toolChoice: typeof toolChoice === "string" ? toolChoice : { name: toolName(toolChoice.name) },
    nameOf: (wireName) => names.get(wireName) ?? wireName,
    carriesRaw: messages.some(hasRaw),
  };
}

const hasRaw = (message: NormalizedMessage): boolean =>
  message.role === "assistant" &&
  message.parts.some((part) => part.type === "reasoning" || part.type === "opaque");

/** Ids in the dialect's pattern. One that comes a second time names another call, and gets another id. */
function uniqueIds(format: IdFormat | undefined): (id: string) => string {
  const wireId = wireIds(format);
  const seen = new Map<string, number>();
  return (id) => {
    const times = seen.get(id) ?? 0;
    seen.set(id, times + 1);
    return wireId(times === 0 ? id : `${id}\n${times}`);
  };
}

function normalizeMessage(
  message: LlmMessage,
  options: NormalizeOptions,
  idOf: (id: string) => string,
  toolName: (name: string) => string,
): readonly NormalizedMessage[] {
  if (message.role === "note") return isBlank(message.text) ? [] : [message];
  if (message.role === "user") {
    const content = message.content.filter((piece) => piece.type === "file" || !isBlank(piece.text));
    return [{ role: "user", content: content.length > 0 ? content : [{ type: "text", text: "(empty)" }] }];
  }
  const isOwnOrigin = message.turn.origin === options.origin && options.neutral !== true;
  const results = message.results[Symbol.iterator]();
  const parts = message.turn.parts.flatMap((part) =>
    normalizePart(part, isOwnOrigin, (call) => ({
      ...call,
      id: idOf(call.id),
      name: toolName(call.name),
      result: normalizeResult(results.next().value),
    })),
  );
  const whole = withoutTrailingReasoning(parts);
  return whole.length > 0 ? [{ role: "assistant", parts: whole }] : [];
}

function normalizePart(
  part: LlmPart,
  isOwnOrigin: boolean,
  toCall: (call: Omit<NormalizedCall, "result">) => NormalizedCall,
): readonly NormalizedPart[] {
  if (part.type === "reasoning" || part.type === "opaque") return isOwnOrigin ? [part] : [];
  const raw = isOwnOrigin && part.raw !== undefined ? { raw: part.raw } : {};
  if (part.type === "text") return isBlank(part.text) ? [] : [{ type: "text", text: part.text, ...raw }];
  const { id, name } = part;
  return [toCall({ type: "tool-call", id, name, ...argumentsToInput(part.arguments), ...raw })];
}

/** The arguments as an object; they may hide half a character behind an escape, or be too deep or too many to be followed. */
function argumentsToInput(argumentsText: string): Pick<NormalizedCall, "arguments" | "input"> {
  if (hasMoreItemsThan(argumentsText, maxArgumentItems)) return { arguments: "{}", input: {} };
  const parsed = textToJson(argumentsText);
  if (!isJsonObject(parsed) || isTooDeep(parsed)) return { arguments: "{}", input: {} };
  const input = withWellFormedText(parsed);
  const isIntact = JSON.stringify(input) === JSON.stringify(parsed);
  return { arguments: isIntact ? argumentsText : JSON.stringify(input), input };
}

const normalizeResult = (result: LlmToolResult | undefined): LlmToolResult =>
  result === undefined
    ? { isError: true, content: "(no result)" }
    : { ...result, content: isBlank(result.content) ? "(no output)" : result.content };

/** Reasoning is given back with what it led to, or not at all. */
function withoutTrailingReasoning(parts: readonly NormalizedPart[]): readonly NormalizedPart[] {
  const last = parts.findLastIndex((part) => part.type !== "reasoning");
  return parts.slice(0, last + 1);
}
