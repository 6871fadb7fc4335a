export { connectMcp } from "./client/connect-mcp.ts";
export type { McpConnection, McpConnectOptions } from "./client/mcp-connection.ts";
export type {
  ElicitedValue,
  McpElicitation,
  McpElicitationAnswer,
  OnElicitation,
} from "./client/elicitation.ts";
export type {
  McpCallOptions,
  McpCallParams,
  McpClient,
  McpProgress,
  McpTool,
  McpToolAnnotations,
} from "./client/mcp-client.ts";
export { mcpTools } from "./client/mcp-tools.ts";
export type { HttpServer, McpServerAddress, ServerHeaders, StdioServer } from "./client/server-address.ts";
export type { McpToolRule } from "./client/tool-policy.ts";
export type { McpToolsOptions, SkippedTool } from "./client/tools-options.ts";
export { McpError } from "./mcp-error.ts";
export type { McpErrorCode } from "./mcp-error.ts";
export { checkServerSdk } from "./server/server-sdk.ts";
export { mcpServer } from "./server/mcp-server.ts";
export type {
  ListeningServer,
  ListenOptions,
  McpAgentServer,
  McpServerOptions,
  StdioStreams,
} from "./server/mcp-agent-server.ts";
export { mcpOfServer } from "./server/mcp-route.ts";
export type { McpRouteOptions } from "./server/mcp-route.ts";
export type {
  CallAction,
  CallSession,
  ListedSession,
  McpHost,
  McpRoute,
  UserSessions,
} from "@moora/agent/internal";
export type { ServedAgent } from "./server/served-agent.ts";
export { parseMcpConfig } from "./client/parse-config.ts";
export type { ConfiguredServer, Environment } from "./client/parse-config.ts";
