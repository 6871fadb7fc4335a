import { isJsonObject } from "@moora/llm/internal";
import { McpError } from "../mcp-error.ts";
import type { McpInputParams } from "./mcp-client.ts";
import { nextRound, type AnsweredQuestion, type ServerQuestion, type WaitingCall } from "./waiting-call.ts";

/** A result of the newer protocol that asks for input and is not the end of the call. */
export const isInputRequired = (result: unknown): result is Readonly<Record<string, unknown>> =>
  isJsonObject(result) && result["resultType"] === "input_required";

/** What a call sends beside its arguments: the answers that the server has asked for, and its own state. */
export function inputParams({ answered, requestState }: WaitingCall): McpInputParams {
  const asked = answered.filter(({ key }) => key !== "");
  return {
    ...(requestState === undefined ? {} : { requestState }),
    ...(asked.length === 0
      ? {}
      : { inputResponses: Object.fromEntries(asked.map(({ key, answer }) => [key, answer])) }),
  };
}

/** The call after a result that asks for input. Throws `McpError` for input that no person can give, such as sampling. */
export function afterInputRequired(
  tool: string,
  waiting: WaitingCall,
  { inputRequests, requestState }: Readonly<Record<string, unknown>>,
): WaitingCall {
  const open: ServerQuestion[] = [];
  const answered: AnsweredQuestion[] = [];
  for (const [key, request] of Object.entries(isJsonObject(inputRequests) ? inputRequests : {})) {
    const { method, params } = isJsonObject(request) ? request : {};
    if (method !== "elicitation/create" || !isJsonObject(params)) throw unsupported(tool, method);
    const { message, requestedSchema } = params;
    const question = { key, message: typeof message === "string" ? message : "" };
    // A question without a form leads to a page, which is not offered here.
    if (!isJsonObject(requestedSchema))
      answered.push({ ...question, schema: {}, answer: { action: "decline" } });
    else open.push({ ...question, schema: requestedSchema });
  }
  const { requestState: _, ...rest } = waiting;
  const state = typeof requestState === "string" ? { requestState } : {};
  return nextRound(tool, rest, { open, answered, ...state });
}

const unsupported = (tool: string, method: unknown): McpError =>
  new McpError(
    "input-required",
    `The MCP tool ${tool} asks the client for ${typeof method === "string" ? method : "something"}, which is not supported. The call may have had its effect.`,
  );
