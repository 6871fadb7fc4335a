import type { Agent } from "../define-agent.ts";
import type { UserSessions } from "./user-sessions.ts";

/** The server whose agents are tools of the Model Context Protocol. */
export interface McpHost {
  readonly agents: readonly Agent<unknown>[];
  /** Called with errors that no client sees. */
  readonly onError: (error: unknown) => void;
}

/** What answers the requests to `/mcp`: `mcpOfServer()` of `@moora/mcp` makes it for the option `mcp` of `@moora/server`. */
export interface McpRoute {
  /** Answers a request of streamable HTTP, whose body was read and parsed, with the sessions of its authenticated user. */
  fetch(request: Request, sessions: UserSessions, body: unknown): Promise<Response>;
  /** Ends the requests that are open. */
  close(): Promise<void>;
}
