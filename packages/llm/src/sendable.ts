import {
  defined,
  hasMoreItemsThan,
  isJsonObject,
  isTooDeep,
  maxItems,
  textToJson,
  wellFormed,
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
import { wireIds, wireNames, type WireDialect } from "./wire-ids.ts";

/** A tool call as it may stand in a request: ids and names fit the dialect, the arguments are an object. */
export interface SendableCall {
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
export type SendablePart =
  | { readonly type: "text"; readonly text: string; readonly raw?: Json }
  | { readonly type: "reasoning"; readonly text: string; readonly raw: Json }
  | { readonly type: "opaque"; readonly raw: Json }
  | SendableCall;

export type SendableMessage =
  | { readonly role: "user"; readonly content: readonly LlmContent[] }
  | { readonly role: "note"; readonly text: string }
  | { readonly role: "assistant"; readonly parts: readonly SendablePart[] };

/** A request as any provider takes it: well-formed text, names and ids that fit, a conversation without holes. */
export interface Sendable extends Pick<
  LlmRequest,
  "model" | "answerSchema" | "parallelToolCalls" | "settings"
> {
  /** Missing when it is blank. */
  readonly system?: string;
  readonly messages: readonly SendableMessage[];
  /** Tools and the choice of one go by their names on the wire. */
  readonly tools: readonly LlmTool[];
  readonly toolChoice: LlmToolChoice;
  /** The tool of ours that a name on the wire stands for; a name that nobody gave stays as it is. */
  readonly nameOf: (wireName: string) => string;
  /** Whether raw parts go along, which the provider may refuse. */
  readonly carriesRaw: boolean;
}

export interface SendableOptions {
  /** Raw parts go back to this origin only. */
  readonly origin: string;
  /** Leave raw parts out altogether. */
  readonly neutral?: boolean | undefined;
  readonly ids?: WireDialect | undefined;
  readonly names?: WireDialect | undefined;
}

/** What the user says where a provider wants the user to speak and the conversation has no word of theirs. */
export const fillers = { first: "(The conversation goes on.)", next: "(Go on.)" } as const;

const isBlank = (text: string): boolean => text.trim() === "";

/**
 * Makes a request fit to be sent: no blank text, each call answered once and under an id of its own, arguments that are
 * objects, reasoning only where it came from and never at the end of a turn.
 */
export function requestToSendable(given: LlmRequest, options: SendableOptions): Sendable {
  const { model, answerSchema, parallelToolCalls, settings, system, messages: said } = wellFormed(given);
  const toolName = wireNames(options.names);
  const names = new Map(given.tools.map((tool) => [toolName(tool.name), tool.name]));
  const idOf = uniqueIds(options.ids);
  const messages = said.flatMap((message) => messageToSendable(message, options, idOf, toolName));
  const { toolChoice } = given;
  return {
    model,
    parallelToolCalls,
    settings,
    ...defined({ answerSchema, system: isBlank(system) ? undefined : system }),
    messages,
    tools: given.tools.map((tool) => ({ ...wellFormed(tool), name: toolName(tool.name) })),
    toolChoice: typeof toolChoice === "string" ? toolChoice : { name: toolName(toolChoice.name) },
    nameOf: (wireName) => names.get(wireName) ?? wireName,
    carriesRaw: messages.some(hasRaw),
  };
}

const hasRaw = (message: SendableMessage): boolean =>
  message.role === "assistant" &&
  message.parts.some((part) => part.type === "reasoning" || part.type === "opaque");

/** Ids in the dialect's pattern. One that comes a second time names another call, and gets another id. */
function uniqueIds(dialect: WireDialect | undefined): (id: string) => string {
  const wireId = wireIds(dialect);
  const seen = new Map<string, number>();
  return (id) => {
    const times = seen.get(id) ?? 0;
    seen.set(id, times + 1);
    return wireId(times === 0 ? id : `${id}\n${times}`);
  };
}

function messageToSendable(
  message: LlmMessage,
  options: SendableOptions,
  idOf: (id: string) => string,
  toolName: (name: string) => string,
): readonly SendableMessage[] {
  if (message.role === "note") return isBlank(message.text) ? [] : [message];
  if (message.role === "user") {
    const content = message.content.filter((piece) => piece.type === "file" || !isBlank(piece.text));
    return [{ role: "user", content: content.length > 0 ? content : [{ type: "text", text: "(empty)" }] }];
  }
  const isHome = message.turn.origin === options.origin && options.neutral !== true;
  const results = message.results[Symbol.iterator]();
  const parts = message.turn.parts.flatMap((part) =>
    partToSendable(part, isHome, (call) => ({
      ...call,
      id: idOf(call.id),
      name: toolName(call.name),
      result: resultToSendable(results.next().value),
    })),
  );
  const whole = withoutTrailingReasoning(parts);
  return whole.length > 0 ? [{ role: "assistant", parts: whole }] : [];
}

function partToSendable(
  part: LlmPart,
  isHome: boolean,
  answered: (call: Omit<SendableCall, "result">) => SendableCall,
): readonly SendablePart[] {
  if (part.type === "reasoning" || part.type === "opaque") return isHome ? [part] : [];
  const raw = isHome && part.raw !== undefined ? { raw: part.raw } : {};
  if (part.type === "text") return isBlank(part.text) ? [] : [{ type: "text", text: part.text, ...raw }];
  const { id, name } = part;
  return [answered({ type: "tool-call", id, name, ...argumentsToInput(part.arguments), ...raw })];
}

/** The arguments as an object; they may hide half a character behind an escape, or be too deep or too many to be followed. */
function argumentsToInput(made: string): Pick<SendableCall, "arguments" | "input"> {
  if (hasMoreItemsThan(made, maxItems)) return { arguments: "{}", input: {} };
  const parsed = textToJson(made);
  if (!isJsonObject(parsed) || isTooDeep(parsed)) return { arguments: "{}", input: {} };
  const input = wellFormed(parsed);
  const isIntact = JSON.stringify(input) === JSON.stringify(parsed);
  return { arguments: isIntact ? made : JSON.stringify(input), input };
}

const resultToSendable = (result: LlmToolResult | undefined): LlmToolResult =>
  result === undefined
    ? { isError: true, content: "(no result)" }
    : { ...result, content: isBlank(result.content) ? "(no output)" : result.content };

/** Reasoning is given back with what it led to, or not at all. */
function withoutTrailingReasoning(parts: readonly SendablePart[]): readonly SendablePart[] {
  const last = parts.findLastIndex((part) => part.type !== "reasoning");
  return parts.slice(0, last + 1);
}
