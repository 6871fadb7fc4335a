import type { Tool } from "@moora/agent-core-effects";
import { checkOptions, refuse, shownValue, withMethods } from "@moora/agent-core-effects/internal";
import { errorToMcpError } from "./error-to-mcp-error.ts";
import { listedTools } from "./listed-tools.ts";
import { withDefinition, type CallSender, type McpClient } from "./mcp-client.ts";
import { readTools } from "./read-tools.ts";
import { checkServerName } from "./tool-name.ts";
import { toolsForms, type McpToolsOptions } from "./tools-options.ts";

/**
 * The tools of a server, through a connected client of your own: a `Client` of `@modelcontextprotocol/client`. The client stays
 * yours: nothing here connects it again or closes it. Rejects with `McpError` if the tools cannot be listed or two have the same
 * name, and with `BuildError` for an invalid option.
 */
export async function mcpTools(client: McpClient, options: McpToolsOptions): Promise<readonly Tool[]> {
  checkClient(client);
  checkOptions("mcpTools", options, toolsForms);
  checkServerName(options.name);
  const list = await readTools(options.name, client).catch((error: unknown) => {
    throw errorToMcpError(`${options.name} (list of tools)`, error);
  });
  const send: CallSender["send"] = async (tool, params, { signal, timeout, onprogress }) => {
    try {
      return await client.callTool(params, withDefinition(tool, { signal, timeout, onprogress }));
    } catch (error) {
      throw errorToMcpError(tool.name, error, signal);
    }
  };
  return listedTools(list, options, { send, asksPerson: false });
}

const clientForm = withMethods("a connected client", "listTools", "callTool");

function checkClient(client: unknown): void {
  if (clientForm.fits(client)) return;
  refuse(
    `mcpTools needs a connected client of @modelcontextprotocol/client, got ${shownValue(client)}. For an address, use connectMcp.`,
  );
}
