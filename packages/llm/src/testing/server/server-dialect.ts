import { isJsonObject, type Json, type JsonObject } from "../../json.ts";
import type { ScriptedAnswer, ScriptedCall, ScriptedError } from "../conformance/harness.ts";
import { textIn } from "../dialects/wire-rules.ts";

/** One event of a streamed answer, as the server writes it. */
export interface ServerEvent {
  readonly text: string;
  /** Whether the answer is complete with this event. Default: false. */
  readonly isLast?: boolean;
}

/** The protocol of one provider, from the server's side. */
export interface ServerDialect {
  /** The path of requests below the base URL, with its slash: `/responses`. A pattern if it contains the model. */
  readonly path: string | RegExp;
  /**
   * Why the provider would reject the body of a request with status 400; undefined for a valid body. `issued` lists the
   * tokens that the server has signed or encrypted so far.
   */
  readonly requestProblem: (body: JsonObject, issued: readonly string[]) => string | undefined;
  /** The events of an answer. `issue` records a token that the provider expects back unchanged, and returns it. */
  readonly events: (
    answer: ScriptedAnswer,
    body: JsonObject,
    issue: (token: string) => string,
  ) => readonly ServerEvent[];
  /** The body of an error response. */
  readonly errorBody: (error: ScriptedError, message: string) => JsonObject;
  /** The text of an error event inside a stream. */
  readonly errorEvent: (error: ScriptedError) => string;
}

/** The text of one server-sent event. An event without a name has data only. Data that is not a string is sent as JSON. */
export const serverSentEvent = (name: string | undefined, data: unknown): string =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

/**
 * The tool name of a scripted call: its own name, or the name that the request gives the tool at an index. `nameOf` reads
 * the name from an item of `tools` in the request's body.
 */
export function calledToolName(
  call: ScriptedCall,
  body: JsonObject,
  nameOf: (tool: JsonObject) => Json | undefined,
): string {
  if (typeof call.name === "string") return call.name;
  const { tools } = body;
  const tool = Array.isArray(tools) ? tools[call.name.tool] : undefined;
  return isJsonObject(tool) ? textIn(nameOf(tool) ?? "") : "";
}
