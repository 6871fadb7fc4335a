import { checkOptions, type OptionForms } from "@moora/agent-core-effects/internal";
import { Connection } from "./connection.ts";
import { checkAddress, type McpServerAddress } from "./server-address.ts";
import { checkServerName } from "./tool-name.ts";
import { toolsForms } from "./tools-options.ts";
import type { McpConnectOptions, McpConnection } from "./mcp-connection.ts";

const connectForms: OptionForms<McpConnectOptions> = {
  ...toolsForms,
  connectTimeoutMs: "positiveInteger",
  maxReconnects: "positiveInteger",
  onElicitation: "function",
  onError: "function",
};

/**
 * Connects to an MCP server: starts the command, or uses the URL. If the connection ends, the next call connects again. Needs
 * the package `@modelcontextprotocol/client`. Rejects with `McpError` if the server cannot be used, and with `BuildError` for an
 * invalid option.
 */
export async function connectMcp(
  server: McpServerAddress,
  options: McpConnectOptions,
): Promise<McpConnection> {
  checkAddress(server);
  checkOptions("connectMcp", options, connectForms);
  checkServerName(options.name);
  return await Connection.open(server, options);
}
