import type { Json } from "@moora/agent-core-state-machine";
import { jsonCopy, maxJsonLength } from "@moora/agent-core-state-machine/internal";
import type { LlmAnswerer, LlmFile, LlmFinish, LlmPart, LlmTurn } from "@moora/llm";
import { withWellFormedText } from "@moora/llm/internal";
import { UnloggableInput } from "./assert-loggable.ts";

/**
 * Validates the turn of a caller, and returns it in the form of logs: known parts, well-formed text, and raw data that is
 * JSON. Not a schema, for speed: every step runs it. Throws `UnloggableInput` for an invalid turn.
 */
export function readTurn({ origin, parts, raw }: LlmTurn): LlmTurn {
  const read = parts.map(readPart);
  const length = read.reduce((sum, part) => sum + lengthOf(part), 0);
  if (length > maxJsonLength)
    throw new UnloggableInput(`The turn is longer than ${maxJsonLength} characters.`);
  return { origin: text(origin, "origin"), parts: read, ...rawOf(raw) };
}

function readPart(part: LlmPart): LlmPart {
  switch (part.type) {
    case "text":
      return { type: "text", text: text(part.text, "text"), ...rawOf(part.raw) };
    case "reasoning":
      return { type: "reasoning", text: text(part.text, "text"), raw: kept(part.raw ?? null) };
    case "tool-call": {
      const { id, name, arguments: given } = part;
      return {
        type: "tool-call",
        id,
        name: text(name, "name"),
        arguments: text(given, "arguments"),
        ...rawOf(part.raw),
      };
    }
    case "file":
      return { type: "file", file: readFile(part.file), ...rawOf(part.raw) };
    case "opaque":
      return { type: "opaque", raw: kept(part.raw ?? null) };
  }
  throw new UnloggableInput("The turn has a part of no known type.");
}

const lengthOf = (part: LlmPart): number => {
  if (part.type === "opaque") return 0;
  if (part.type === "file") return "url" in part.file ? part.file.url.length : part.file.data.length;
  return part.type === "tool-call" ? part.name.length + part.arguments.length : part.text.length;
};

function readFile(file: LlmFile): LlmFile {
  const { mediaType, name } = file;
  const about = {
    mediaType: text(mediaType, "media type of a file"),
    ...(name === undefined ? {} : { name: text(name, "name of a file") }),
  };
  return "url" in file
    ? { ...about, url: text(file.url, "URL of a file") }
    : { ...about, data: text(file.data, "data of a file") };
}

function text(value: string, what: string): string {
  if (typeof value !== "string") throw new UnloggableInput(`The ${what} of the turn is not text.`);
  return value.toWellFormed();
}

const rawOf = (raw: Json | undefined): { readonly raw?: Json } =>
  raw === undefined ? {} : { raw: kept(raw) };

/** A copy of raw JSON, with lone surrogates replaced. Throws `UnloggableInput` for values that are not JSON, such as cycles. */
function kept(raw: Json): Json {
  const found = jsonCopy(raw);
  if ("copy" in found) return found.copy;
  const repaired = found.problem.code === "ill-formed-string" ? repairedCopy(raw) : found;
  if ("copy" in repaired) return repaired.copy;
  throw new UnloggableInput(`The turn has raw JSON that cannot be kept: ${repaired.problem.message}`);
}

function repairedCopy(raw: Json): ReturnType<typeof jsonCopy> {
  try {
    return jsonCopy(withWellFormedText(raw));
  } catch {
    return jsonCopy(undefined);
  }
}

const finishes: readonly LlmFinish["unified"][] = ["stop", "tool-calls", "length", "other"];

/** The finish reason of a turn; an unknown one is `other`. */
export const readFinish = ({ unified, raw }: LlmFinish): LlmFinish => ({
  unified: finishes.includes(unified) ? unified : "other",
  raw: text(raw, "finish"),
});

/** Which of several callers answered: well-formed text, which a log can store. */
export const readAnswerer = ({ caller, model, reasons }: LlmAnswerer): LlmAnswerer => ({
  caller: text(caller, "answerer"),
  model: text(model, "answerer"),
  reasons: reasons.map((reason) => text(reason, "answerer")),
});
