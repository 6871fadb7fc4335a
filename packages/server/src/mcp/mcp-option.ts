import type { Agent, DurableSession, SessionView } from "@moora/agent";

/** The server whose agents are tools of the Model Context Protocol. */
export interface McpHost {
  readonly agents: readonly Agent<unknown>[];
  /** Called with errors that no client sees. */
  readonly onError: (error: unknown) => void;
}

/** What answers the requests to `/mcp`: `mcpOfServer()` of `@moora/mcp` makes it. */
export interface McpRoute {
  /** Answers a request, whose body was read and parsed, with the sessions of its user. */
  fetch(request: Request, sessions: McpSessions, body: unknown): Promise<Response>;
  /** Ends the requests that are open. */
  close(): Promise<void>;
}

type UsedMethods =
  | "id"
  | "send"
  | "decide"
  | "cancel"
  | "questions"
  | "current"
  | "trace"
  | "info"
  | "onEvent"
  | "settled";

/** An open session as a call of a tool uses it. */
export interface McpCallSession extends Pick<DurableSession<unknown>, UsedMethods> {
  /** Ends the use. Can be called more than once. */
  close(): Promise<void>;
}

/** The sessions of the user of a request to `/mcp`, with the rights of the request. */
export interface McpSessions {
  readonly user: string;
  /** The id of a new session, which cannot be guessed. */
  newId(): string;
  /** Why the user may not do this with a session, in words for the client; undefined if the user may. */
  refusal(action: "continue" | "decide" | "cancel", id: string): Promise<string | undefined>;
  /** Opens a session, or creates it with an id of `newId`. Rejects with `InputRefused` for what the user may not do. */
  open(id: string, agent: Agent<unknown>): Promise<McpCallSession>;
  list(): AsyncIterable<{ readonly id: string; readonly agent: string; readonly records: number }>;
  /** The messages of a session; undefined for one that the user may not read. */
  messagesOf(id: string): Promise<SessionView["messages"] | undefined>;
}
