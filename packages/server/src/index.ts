export { createAgentServer } from "./agent-server.ts";
export type { AgentServer } from "./agent-server.ts";
export type { Authorize, Grant, May, SessionAction, SessionRef } from "./access/grant.ts";
export type { ToolParts } from "./chat/ui-chunk.ts";
export type { Connection } from "./routes/route.ts";
export { defaultWorkerOptions } from "./worker/worker-options.ts";
export type { WorkerOptions } from "./worker/worker-options.ts";
export type {
  CallAction,
  CallSession,
  ListedSession,
  McpHost,
  McpRoute,
  UserSessions,
} from "@moora/agent/internal";
export { defaultServerLimits } from "./server-options.ts";
export type { AgentServerOptions, ServedPage, ServerLimits } from "./server-options.ts";
