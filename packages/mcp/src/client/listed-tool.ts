import {
  defineTool,
  toolReply,
  type Tool,
  type ToolContext,
  type ToolReply,
} from "@moora/agent-core-effects";
import { refuse, truncated } from "@moora/agent-core-effects/internal";
import type { JsonObject } from "@moora/llm";
import { McpError } from "../mcp-error.ts";
import type { McpProgress, McpTool, SendCall } from "./mcp-client.ts";
import { receivedInput, receivedSchemaCheck, type ReceivedCheck } from "./received-schema.ts";
import { resultToReply } from "./result-to-reply.ts";
import { toolNameOf } from "./tool-name.ts";
import { annotatedPolicy, type McpToolRule } from "./tool-policy.ts";
import type { McpToolsOptions } from "./tools-options.ts";

/** The limits of what a model reads about one tool, in characters. A longer schema cannot be used. */
const maxDescriptionLength = 10_000;
const maxSchemaLength = 100_000;
const maxProgressLength = 1_000;

/** The timers of the SDK do not limit calls: the runner does, with its own clock. This is the longest that they can be. */
const noTimeoutMs = 2 ** 31 - 1;

export const defaultMaxResultBytes: number = 4 * 1024 * 1024;

/** A tool of a server as a tool of an agent. Throws `BuildError` if its schema or its name cannot be used. */
export function listedTool(tool: McpTool, rule: McpToolRule, options: McpToolsOptions, send: SendCall): Tool {
  const { risk, replay } = annotatedPolicy(tool, options.trust === true);
  const timeoutMs = rule.timeoutMs ?? options.timeoutMs;
  const schema = checkedSize(tool.inputSchema, "Its schema");
  const checkOutput = outputCheck(tool);
  return defineTool({
    name: rule.name ?? toolNameOf(options.name, tool.name),
    description: descriptionOf(tool),
    input: receivedInput(schema),
    schema,
    risk: rule.risk ?? risk,
    replay: rule.replay ?? replay,
    ...(rule.approval === undefined ? {} : { approval: rule.approval }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    execute: (input, context) => callToReply(tool, input, context, { options, checkOutput, send }),
  });
}

/** The check of structured content, without the regular expressions of the server; undefined if the tool promises none. */
const outputCheck = ({ outputSchema }: McpTool): ReceivedCheck | undefined =>
  outputSchema === undefined
    ? undefined
    : receivedSchemaCheck(checkedSize(outputSchema, "Its output schema"), "Its output schema");

/** What a call needs besides its tool and its input. */
interface CallParts {
  readonly options: McpToolsOptions;
  readonly checkOutput: ReceivedCheck | undefined;
  readonly send: SendCall;
}

/** The reply of one call. A failure of the connection is the error of the call, with its code. */
async function callToReply(
  tool: McpTool,
  input: JsonObject,
  { idempotencyKey, progress, signal }: ToolContext,
  { options, checkOutput, send }: CallParts,
): Promise<ToolReply> {
  try {
    const params = {
      name: tool.name,
      arguments: { ...input },
      _meta: { "moora/idempotency-key": idempotencyKey },
    };
    const result = await send(tool, params, {
      signal,
      timeout: noTimeoutMs,
      onprogress: (report) => progress(progressText(report)),
    });
    checkResultSize(tool.name, result, options.maxResultBytes ?? defaultMaxResultBytes);
    return resultToReply(tool.name, result, checkOutput);
  } catch (error) {
    if (error instanceof McpError)
      return toolReply({ content: error.message, isError: true, code: error.code });
    throw error;
  }
}

/** Throws `McpError` for a result that is larger than the limit. */
function checkResultSize(tool: string, result: unknown, limit: number): void {
  const size = new TextEncoder().encode(JSON.stringify(result)).length;
  if (size > limit) throw resultTooLarge(tool, limit);
}

/** The error of a call whose result is larger than the limit. */
export const resultTooLarge = (tool: string, limit: number): McpError =>
  new McpError(
    "result-too-large",
    `The result of the MCP tool ${tool} is larger than ${limit} bytes. The call ran and may have had its effect. Ask for less, ` +
      "or raise maxResultBytes.",
  );

function checkedSize(schema: object, place: string): JsonObject {
  const { length } = JSON.stringify(schema);
  if (length > maxSchemaLength) refuse(`${place} has ${length} characters; the limit is ${maxSchemaLength}.`);
  // It was parsed from JSON, and a schema of a tool is an object.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return schema as JsonObject;
}

const descriptionOf = ({ name, title, description, annotations }: McpTool): string => {
  const text = description?.trim() ?? "";
  return truncated(
    (text === "" ? (title ?? annotations?.title ?? name) : text).toWellFormed(),
    maxDescriptionLength,
  );
};

const progressText = ({ message, progress, total }: McpProgress): string =>
  truncated(message ?? (total === undefined ? String(progress) : `${progress}/${total}`), maxProgressLength);
