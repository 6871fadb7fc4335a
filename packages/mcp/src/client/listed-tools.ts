import type { Tool } from "@moora/agent-core-effects";
import { errorText, checkOptions, oneOf, type OptionForms } from "@moora/agent-core-effects/internal";
import { McpError } from "../mcp-error.ts";
import type { CallSender, McpTool } from "./mcp-client.ts";
import { listedTool } from "./listed-tool.ts";
import { maxTools, tooManyTools, type ToolList } from "./read-tools.ts";
import type { McpToolsOptions } from "./tools-options.ts";
import type { McpToolRule } from "./tool-policy.ts";

/**
 * The tools that a server lists, without those that cannot be used. Throws `McpError` for too many tools and for two of the
 * same name, and `BuildError` for an invalid rule.
 */
export function listedTools(
  { tools, skipped }: ToolList,
  options: McpToolsOptions,
  sender: CallSender,
): readonly Tool[] {
  if (tools.length > maxTools) throw tooManyTools(options.name, tools.length);
  for (const tool of skipped) options.onSkipped?.(tool);
  const origins = new Map<string, string>();
  return tools.flatMap((tool) => {
    const made = usableTool(tool, options, sender);
    if (made === undefined) return [];
    const other = origins.get(made.name);
    if (other !== undefined) throw collision(made.name, [other, tool.name], options);
    origins.set(made.name, tool.name);
    return [made];
  });
}

/** The tool; undefined if the application does not want it or it cannot be used. */
function usableTool(tool: McpTool, options: McpToolsOptions, sender: CallSender): Tool | undefined {
  const skip = (reason: string): undefined => {
    options.onSkipped?.({ name: tool.name, reason });
  };
  if (tool.execution?.taskSupport === "required")
    return skip("It works only as a task of the protocol, which is not supported.");
  const rule = options.rule?.(tool) ?? {};
  checkRule(rule, tool.name);
  if (rule.include === false) return undefined;
  try {
    return listedTool(tool, rule, options, sender);
  } catch (error) {
    return skip(errorText(error));
  }
}

const collision = (
  name: string,
  [one, other]: readonly [string, string],
  { name: server }: McpToolsOptions,
): McpError =>
  new McpError(
    "name-collision",
    `The MCP server ${server} lists the tools ${JSON.stringify(one)} and ${JSON.stringify(other)}, which both have the name ` +
      `${name}. Give one of them another name, or leave it out, with the option rule.`,
  );

const forms: OptionForms<McpToolRule> = {
  name: "string",
  include: oneOf(true, false),
  risk: oneOf("low", "medium", "high", "critical"),
  approval: oneOf("always", "never"),
  replay: oneOf("safe", "keyed", "once"),
  timeoutMs: "positiveInteger",
};

/** Throws `BuildError` for what a rule returned about a tool if it has an unknown field or an invalid value. */
function checkRule(rule: McpToolRule, tool: string): void {
  const place = `the rule for the tool ${tool}`;
  checkOptions(place, rule, forms, { placeOf: (path) => `${path} of ${place}` });
}
