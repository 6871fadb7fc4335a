import {
  defineTool,
  toolReply,
  type Tool,
  type ToolContext,
  type ToolQuestion,
  type ToolReply,
} from "@moora/agent-core-effects";
import { refuse, truncated } from "@moora/agent-core-effects/internal";
import type { JsonObject } from "@moora/llm";
import { McpError } from "../mcp-error.ts";
import type { CallSender, McpTool } from "./mcp-client.ts";
import { receivedInput, receivedSchemaCheck, type ReceivedCheck } from "./received-schema.ts";
import { resultToReply } from "./result-to-reply.ts";
import { toolNameOf } from "./tool-name.ts";
import { annotatedPolicy, type McpToolRule } from "./tool-policy.ts";
import type { McpToolsOptions } from "./tools-options.ts";
import { runCall, type CallParts } from "./tool-call.ts";
import { askPerson } from "./waiting-call.ts";

/** The limits of what a model reads about one tool, in characters. A longer schema cannot be used. */
const maxDescriptionLength = 10_000;
const maxSchemaLength = 100_000;

/** A tool of a server as a tool of an agent. Throws `BuildError` if its schema or its name cannot be used. */
export function listedTool(
  tool: McpTool,
  rule: McpToolRule,
  options: McpToolsOptions,
  sender: CallSender,
): Tool {
  const annotated = annotatedPolicy(tool, options.trust === true);
  const { risk = annotated.risk, replay = annotated.replay } = rule;
  const timeoutMs = rule.timeoutMs ?? options.timeoutMs;
  const schema = checkedSize(tool.inputSchema);
  const checkOutput = outputCheck(tool);
  return defineTool({
    name: rule.name ?? toolNameOf(options.name, tool.name),
    description: descriptionOf(tool),
    input: receivedInput(schema),
    schema,
    risk,
    replay,
    ...(rule.approval === undefined ? {} : { approval: rule.approval }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    execute: (input, context) =>
      callToReply(tool, input, context, { options, checkOutput, sender, mayRepeat: replay !== "once" }),
  });
}

/** The check of structured content, without the regular expressions of the server. A schema that cannot be used fits everything. */
const outputCheck =
  ({ outputSchema }: McpTool): ReceivedCheck =>
  (value) => {
    try {
      return outputSchema ? receivedSchemaCheck(checkedSize(outputSchema))(value) : { ok: true };
    } catch {
      return { ok: true };
    }
  };

/** The reply of one call, or a question of the server to a person. A failure of the connection is the error of the call. */
async function callToReply(
  tool: McpTool,
  input: JsonObject,
  context: ToolContext,
  parts: CallParts,
): Promise<ToolReply | ToolQuestion> {
  const { options, checkOutput } = parts;
  try {
    const end = await runCall(tool, input, context, parts);
    if ("waiting" in end) return askPerson(options.name, tool.name, end.waiting);
    return resultToReply(tool.name, end.result, checkOutput);
  } catch (error) {
    if (error instanceof McpError)
      return toolReply({ content: error.message, isError: true, code: error.code });
    throw error;
  }
}

function checkedSize(schema: object): JsonObject {
  const { length } = JSON.stringify(schema);
  if (length > maxSchemaLength)
    refuse(`Its schema has ${length} characters; the limit is ${maxSchemaLength}.`);
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
