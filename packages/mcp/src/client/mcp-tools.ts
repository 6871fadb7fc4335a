import type { Tool } from "@moora/agent-core-effects";
import { checkOptionNames } from "../check-options.ts";
import { errorToMcpError } from "./error-to-mcp-error.ts";
import { listedTools } from "./listed-tools.ts";
import { withDefinition, type McpClient } from "./mcp-client.ts";
import { readTools } from "./read-tools.ts";
import { checkToolsOptions, toolsOptionNames, type McpToolsOptions } from "./tools-options.ts";

/**
 * The tools of a server, through a connected client of your own: a `Client` of `@modelcontextprotocol/client`. The client stays
 * yours: nothing here connects it again or closes it. Rejects with `McpError` if the tools cannot be listed or two have the same
 * name, and with `BuildError` for an invalid option.
 */
export async function mcpTools(client: McpClient, options: McpToolsOptions): Promise<readonly Tool[]> {
  checkOptionNames("mcpTools", options, toolsOptionNames);
  checkToolsOptions(options);
  const list = await readTools(options.name, client).catch((error: unknown) => {
    throw errorToMcpError(`${options.name} (list of tools)`, error);
  });
  return listedTools(list, options, async (tool, params, callOptions) => {
    try {
      return await client.callTool(params, withDefinition(tool, callOptions));
    } catch (error) {
      throw errorToMcpError(tool.name, error, callOptions.signal);
    }
  });
}
