import type { Json, JsonObject, ToolCallRecord } from "@moora/agent";

/** The codes of calls whose arguments no tool has accepted. */
const uncheckedCodes: ReadonlySet<string | undefined> = new Set(["cut", "invalid-arguments", "unknown-tool"]);

/** The arguments of a call; undefined where its tool has not accepted them. */
export function inputOf({ parameters, problem, result }: ToolCallRecord): JsonObject | undefined {
  if (problem !== undefined) return undefined;
  if (result?.isSuccess === false && uncheckedCodes.has(result.code)) return undefined;
  // A blank text counts as no arguments.
  const value = parameters.trim() === "" ? {} : textToJson(parameters);
  return isJsonObject(value) ? value : undefined;
}

/** The JSON that a tool has returned; undefined for text, for a failed call, and where a reviewer gave the result. */
export function outputOf({ result, decision, asked }: ToolCallRecord): Json | undefined {
  // A tool that asks gets the answer, and returns a result of its own.
  const isAnswer = decision?.type === "answered" && asked === undefined;
  const isOwn = decision?.type !== "worked" && !isAnswer;
  return isOwn && result?.isSuccess === true ? textToJson(result.content) : undefined;
}

const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The JSON of a text; undefined for one that is not JSON. */
export function textToJson(text: string): Json | undefined {
  try {
    // JSON.parse returns JSON.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
