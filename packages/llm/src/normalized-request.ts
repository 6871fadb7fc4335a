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
import { lostNumber } from "./json-numbers.ts";
import { takenFiles, type FileRules } from "./known-file.ts";
import { mapFiles } from "./map-files.ts";
import type {
  LlmContent,
  LlmFile,
  LlmMessage,
  LlmPart,
  LlmRequest,
  LlmTool,
  LlmToolChoice,
  LlmToolResult,
} from "./request.ts";
import { wireIds, wireNames, type IdFormat } from "./wire-ids.ts";

/** A tool call in a form that a provider accepts: id and name match their formats, and the arguments are an object. */
export interface NormalizedCall {
  readonly type: "tool-call";
  readonly id: string;
  readonly name: string;
  /** The JSON text of an object: the model's own text, or `{}` if that is not an object. */
  readonly arguments: string;
  /** The parsed arguments. */
  readonly input: JsonObject;
  readonly raw?: Json;
  readonly result: LlmToolResult;
}

/** A part of an assistant turn. It has `raw` only if the turn has the origin that the request is sent to. */
export type NormalizedPart =
  | { readonly type: "text"; readonly text: string; readonly raw?: Json }
  | { readonly type: "reasoning"; readonly text: string; readonly raw: Json }
  | { readonly type: "opaque"; readonly raw: Json }
  | { readonly type: "file"; readonly file: LlmFile; readonly raw: Json }
  | NormalizedCall;

/** A message of a normalized request. */
export type NormalizedMessage =
  | { readonly role: "user"; readonly content: readonly LlmContent[] }
  | { readonly role: "note"; readonly text: string }
  | { readonly role: "assistant"; readonly parts: readonly NormalizedPart[] };

/**
 * A request in a form that every provider accepts: well-formed text, valid names and ids, no blank text, and a result for
 * every tool call. Only a turn of the same origin contains the files that its model made: those of other turns are in a user
 * message after the turn, which every provider accepts.
 */
export interface NormalizedRequest extends Pick<
  LlmRequest,
  "model" | "answerSchema" | "parallelToolCalls" | "settings"
> {
  /** Missing if it is blank. */
  readonly system?: string;
  readonly messages: readonly NormalizedMessage[];
  /** The tools, by their names on the wire, which `toolChoice` uses, too. */
  readonly tools: readonly LlmTool[];
  readonly toolChoice: LlmToolChoice;
  /** The original name of a tool by its name on the wire. An unknown name is returned unchanged. */
  readonly nameOf: (wireName: string) => string;
}

/** A half of a pair: a call of a tool of the provider, or its result. Both have the same id. */
export interface Half {
  readonly id: string;
  readonly isResult: boolean;
}

/** How to normalize a request. */
export interface NormalizeOptions {
  /** Only turns from this origin keep their raw parts. */
  readonly origin: string;
  /** Leaves out all raw parts. Default: false. */
  readonly neutral?: boolean | undefined;
  /** The format of tool call ids. Default: `commonIdFormat`. */
  readonly idFormat?: IdFormat | undefined;
  /** The format of tool names. Default: `commonIdFormat`. */
  readonly nameFormat?: IdFormat | undefined;
  /** Which half of a pair an opaque part is: a provider refuses a half alone. Default: there are no pairs. */
  readonly halfOf?: ((raw: Json) => Half | undefined) | undefined;
  /** The files that the provider takes. Default: any. */
  readonly files?: FileRules | undefined;
  /** Receives a warning for each file that is not sent. */
  readonly warn?: ((warning: string) => void) | undefined;
}

/**
 * User messages for providers that require one where the conversation has none: `first` before everything else, `next`
 * between or after assistant turns.
 */
export const placeholders = { first: "(The conversation continues.)", next: "(Continue.)" } as const;

const isBlank = (text: string): boolean => text.trim() === "";

/**
 * Converts a request to a form that every provider accepts: without blank text, every tool call with a unique id, one result
 * and an object as its arguments, and reasoning only for its own origin and never at the end of a turn.
 */
export function normalizeRequest(request: LlmRequest, options: NormalizeOptions): NormalizedRequest {
  const wellFormed = withWellFormedText(request);
  const { model, answerSchema, parallelToolCalls, settings, system } = wellFormed;
  const toolName = wireNames(options.nameFormat);
  const names = new Map(request.tools.map((tool) => [toolName(tool.name), tool.name]));
  const idOf = uniqueIds(options.idFormat);
  const taken = takenFiles(options.files ?? {}, options.warn ?? (() => undefined));
  const messages = wellFormed.messages
    .toReversed()
    .map((message) =>
      mapFiles(message, (file, place) =>
        taken(file, place === "turn" && !isOwn(message, options) ? "message" : place),
      ),
    )
    .toReversed()
    .flatMap((message) => normalizeMessage(message, options, idOf, toolName));
  const { halfOf = () => undefined } = options;
  const { toolChoice } = request;
  return {
    model,
    parallelToolCalls,
    settings,
    ...defined({ answerSchema, system: isBlank(system) ? undefined : system }),
    messages: withoutHalves(messages, halfOf),
    tools: request.tools.map((tool) => ({ ...withWellFormedText(tool), name: toolName(tool.name) })),
    toolChoice: typeof toolChoice === "string" ? toolChoice : { name: toolName(toolChoice.name) },
    nameOf: (wireName) => names.get(wireName) ?? wireName,
  };
}

/** Leaves out calls without results and results without calls. A call may still run in a turn that calls tools of the agent. */
function withoutHalves(
  messages: readonly NormalizedMessage[],
  halfOf: (raw: Json) => Half | undefined,
): readonly NormalizedMessage[] {
  const keyOf = (half: Half, isResult: boolean): string => `${isResult} ${half.id}`;
  const partHalf = (part: NormalizedPart): Half | undefined =>
    part.type === "opaque" ? halfOf(part.raw) : undefined;
  const turns = messages.flatMap((message) => (message.role === "assistant" ? [message.parts] : []));
  const halves = turns.flat().flatMap((part) => partHalf(part) ?? []);
  const known = new Set(halves.map((half) => keyOf(half, half.isResult)));
  if (known.size === 0) return messages;
  return messages.map((message) => {
    if (message.role !== "assistant") return message;
    const calls = message.parts.some(({ type }) => type === "tool-call");
    const parts = message.parts.filter((part) => {
      const half = partHalf(part);
      if (half === undefined || (calls && !half.isResult)) return true;
      return known.has(keyOf(half, !half.isResult));
    });
    return { ...message, parts: withoutTrailingReasoning(parts) };
  });
}

/** Whether a turn is from the origin of the request, which gets raw parts back. */
const isOwn = (message: LlmMessage, { origin, neutral }: NormalizeOptions): boolean =>
  message.role === "assistant" && message.turn.origin === origin && neutral !== true;

/** Ids in a format. An id that occurs again belongs to another call, and is replaced. */
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
  const isOwnOrigin = isOwn(message, options);
  const results = message.results[Symbol.iterator]();
  const parts = message.turn.parts.flatMap((part) =>
    normalizePart(part, isOwnOrigin, (call) => ({
      ...call,
      id: idOf(call.id),
      name: toolName(call.name),
      result: normalizeResult(results.next().value),
    })),
  );
  const complete = withoutTrailingReasoning(parts);
  const files = message.turn.parts.filter((part) => part.type === "file" && !(isOwnOrigin && "raw" in part));
  return [
    ...(complete.length > 0 ? [{ role: "assistant", parts: complete } as const] : []),
    ...filesOfTurn(files),
  ];
}

/** The user message with the files of a turn that the turn itself cannot contain; none if there are no files. */
export const filesOfTurn = (parts: readonly (LlmPart | NormalizedPart)[]): readonly NormalizedMessage[] => {
  const files = parts.flatMap((part): readonly LlmContent[] =>
    part.type === "file" ? [{ type: "file", file: part.file }] : [],
  );
  const text = "Files that you made in the turn above:";
  return files.length === 0 ? [] : [{ role: "user", content: [{ type: "text", text }, ...files] }];
};

/** Whether the parts of an answer contain anything for the caller: a call, a file, or text that is not blank. */
export const hasContent = (parts: readonly LlmPart[]): boolean =>
  parts.some(
    (part) =>
      part.type === "tool-call" || part.type === "file" || (part.type === "text" && !isBlank(part.text)),
  );

function normalizePart(
  part: LlmPart,
  isOwnOrigin: boolean,
  toCall: (call: Omit<NormalizedCall, "result">) => NormalizedCall,
): readonly NormalizedPart[] {
  if (part.type === "reasoning" || part.type === "opaque") return isOwnOrigin ? [part] : [];
  if (part.type === "file") {
    const { raw: own } = part;
    return isOwnOrigin && own !== undefined ? [{ type: "file", file: part.file, raw: own }] : [];
  }
  const raw = isOwnOrigin && part.raw !== undefined ? { raw: part.raw } : {};
  if (part.type === "text") return isBlank(part.text) ? [] : [{ type: "text", text: part.text, ...raw }];
  const { id, name } = part;
  return [toCall({ type: "tool-call", id, name, ...argumentsToInput(part.arguments), ...raw })];
}

/** The arguments as an object without lone surrogates; an empty one if they are invalid, too deep or too large, or have a number that it would change. */
function argumentsToInput(argumentsText: string): Pick<NormalizedCall, "arguments" | "input"> {
  if (hasMoreItemsThan(argumentsText, maxArgumentItems)) return { arguments: "{}", input: {} };
  const parsed = textToJson(argumentsText);
  if (!isJsonObject(parsed) || isTooDeep(parsed)) return { arguments: "{}", input: {} };
  if (lostNumber(argumentsText) !== undefined) return { arguments: argumentsText, input: {} };
  const input = withWellFormedText(parsed);
  const isIntact = JSON.stringify(input) === JSON.stringify(parsed);
  return { arguments: isIntact ? argumentsText : JSON.stringify(input), input };
}

const normalizeResult = (result: LlmToolResult | undefined): LlmToolResult =>
  result === undefined
    ? { isError: true, content: "(no result)" }
    : {
        ...result,
        content: isBlank(result.content) ? "(no output)" : result.content,
      };

/** Providers accept reasoning only in front of the text or the call that it resulted in. */
function withoutTrailingReasoning(parts: readonly NormalizedPart[]): readonly NormalizedPart[] {
  const last = parts.findLastIndex((part) => part.type !== "reasoning");
  return parts.slice(0, last + 1);
}
