import type { Agent, BlobOptions, Clock, EventLog, LogListener } from "@moora/agent";
import type { Logger, McpHost, McpRoute } from "@moora/agent/internal";
import type { Authorize, SessionRef } from "./access/grant.ts";
import type { ToolParts } from "./chat/ui-chunk.ts";
import type { LiveHub } from "./live/live-hub.ts";
import type { ServerCounters } from "./metrics/server-counters.ts";
import type { WorkerOptions } from "./worker/worker-options.ts";

/** The limits of a server. */
export interface ServerLimits {
  /** The longest body of a request, in bytes. Default: 1,048,576. */
  readonly maxBodyBytes: number;
  /** How long a client may take to send a body, in milliseconds. Default: 10,000. */
  readonly bodyTimeoutMs: number;
  /** The number of sessions in memory. Idle ones are closed to make place; without one, requests get 503. Default: 1,000. */
  readonly maxOpenSessions: number;
  /** How long a session without requests, streams and work stays in memory, in milliseconds. Default: 60,000. */
  readonly sessionIdleMs: number;
  /** The number of requests of one user in a minute; further ones get 429 with `Retry-After`. Default: 6,000. */
  readonly maxRequestsPerMinute: number;
  /** The number of open streams of one user; further ones get 429. Default: 50. */
  readonly maxStreamsPerUser: number;
  /** The number of open streams of all users; further ones get 503. Default: 10,000. */
  readonly maxStreams: number;
  /**
   * How many bytes of new events wait in memory for one stream. Beyond them, chunks are dropped and durable events are read
   * from the log again. Default: 262,144.
   */
  readonly maxBufferedBytes: number;
  /** How long a stream may take no event that waits for it, in milliseconds. It is then closed, and can be resumed. Default: 30,000. */
  readonly streamStallMs: number;
  /**
   * After how many milliseconds a stream of events ends at the latest, so that its reader connects again and is authorized again. It
   * resumes exactly. A random part of at most a fifth is left out. Default: 300,000.
   */
  readonly streamLifetimeMs: number;
  /** The pause after which a stream without events gets a comment, in milliseconds. Default: 15,000. */
  readonly keepAliveMs: number;
}

/** The default limits. */
export const defaultServerLimits: ServerLimits = /* @__PURE__ */ Object.freeze({
  maxBodyBytes: 1_048_576,
  bodyTimeoutMs: 10_000,
  maxOpenSessions: 1_000,
  sessionIdleMs: 60_000,
  maxRequestsPerMinute: 6_000,
  maxStreamsPerUser: 50,
  maxStreams: 10_000,
  maxBufferedBytes: 262_144,
  streamStallMs: 30_000,
  streamLifetimeMs: 300_000,
  keepAliveMs: 15_000,
});

/** A page with the policy that is sent with it. */
export interface ServedPage {
  readonly html: string;
  /** The header `content-security-policy`. */
  readonly contentSecurityPolicy: string;
}

/** The options of `createAgentServer`. */
export interface AgentServerOptions {
  /** The agents, each with a name of its own, which is part of its addresses. */
  readonly agents: readonly Agent<unknown>[];
  /**
   * The log with the sessions. Other processes may use it at the same time. A log with an `owner`, such as `dbosLog` or `restateLog`, has the
   * sessions of an engine: the server shows them and posts to them. On the log of `dbosHost` itself it refuses posts to the sessions of
   * the host, and runs those that it creates.
   */
  readonly log: EventLog;
  /**
   * Authenticates a request: returns the user and the rights, or undefined to refuse. Required for hosts that are not loopback
   * addresses. Default: requests to a loopback address belong to the user "local", all others are refused.
   */
  readonly authorize?: Authorize;
  /**
   * The hosts, as in the header `Host`, by which this server is reached beside loopback addresses, such as
   * `agents.example.com`. They are checked for a server on a loopback address, and need `authorize`. Default: none.
   */
  readonly allowedHosts?: readonly string[];
  /** Other origins whose pages may use this server, such as `https://app.example.com`. Default: none; CORS is off. */
  readonly allowedOrigins?: readonly string[];
  /** The path before all routes, such as `/api`. Default: none. */
  readonly basePath?: string;
  /**
   * Whether this server also runs sessions that have work and that no process runs: retries, deadlines and reminders that are due,
   * and messages that were not answered. Needs a log that lists due sessions, as those in memory, in SQLite and in PostgreSQL do.
   * Default: false.
   */
  readonly worker?: boolean | WorkerOptions;
  /**
   * Stores the bytes of large files outside the records, as `blobs` of `openSession` does. Viewers read them at
   * `/sessions/:id/files/:digest`; chats and AG-UI get that path as the URL. False: files stay in the records. Default: the store of
   * the log, if it has one.
   */
  readonly blobs?: BlobOptions | false;
  /**
   * What the tools and handlers need of this process, for each session that it runs: called with the user to whom the session
   * belongs, null for none, and the session, each time the session is opened. Must return an object. The log does not contain
   * it. Required if an agent needs it (`defineContext`), unless the log has an owner of all sessions. Default: none.
   */
  readonly context?: (user: string | null, session: SessionRef) => object | Promise<object>;
  /**
   * Whether `GET /metrics` answers, in the text format of Prometheus: to users whose grant has `mayReadMetrics`, and on a server
   * without `authorize`. Default: false.
   */
  readonly metrics?: boolean;
  /**
   * Returns the page at `GET /inspector/`: `inspectorOfServer` of `@moora/inspector`. The page contains nothing of a session; its
   * requests are authorized as all others. Default: none, the path is not found.
   */
  readonly inspector?: () => Promise<ServedPage>;
  /**
   * Serves the agents as tools of the Model Context Protocol at `/mcp`: `mcpOfServer()` of `@moora/mcp`. Its users, rights, limits and
   * sessions are those of the other routes. Default: none, the path is not found.
   */
  readonly mcp?: (host: McpHost) => McpRoute;
  /**
   * How chats of the AI SDK show tool calls. `dynamic`: as parts of the type `dynamic-tool`. `static`: as parts of the type `tool-NAME`,
   * for pages whose messages have the types of the tools; questions of sub-agents stay dynamic. Default: `dynamic`.
   */
  readonly toolParts?: ToolParts;
  /** The limits. Each one that is not given has its default. */
  readonly limits?: Partial<ServerLimits>;
  /**
   * The name of this process as the owner of sessions, which all viewers of a session can read. See `OpenOptions.owner`.
   * Default: a random name.
   */
  readonly owner?: string;
  /** How long the lease of a session lasts if it is not renewed, in milliseconds. Default: 30,000. */
  readonly leaseMs?: number;
  /** Default: `systemClock`. */
  readonly clock?: Clock;
  /** Receives every error that a client sees as `internal`, every failed request to the engine of the log, and every error of a session. Default: `console.error`. */
  readonly onError?: (error: unknown) => void;
  /** Receives the log entries of the sessions and of their streams, as `onLog` of `openSession` does. Default: none. */
  readonly onLog?: LogListener;
}

/** The options of a server with their defaults. */
export interface ServerContext extends Omit<
  AgentServerOptions,
  "agents" | "allowedOrigins" | "limits" | "worker" | "blobs"
> {
  readonly agents: ReadonlyMap<string, Agent<unknown>>;
  readonly log: EventLog;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: ReadonlySet<string>;
  readonly basePath: string;
  readonly limits: ServerLimits;
  readonly worker: Required<WorkerOptions> | undefined;
  readonly blobs: BlobOptions | false;
  readonly counters: ServerCounters;
  /** Undefined for a log without a live channel. */
  readonly liveHub: LiveHub | undefined;
  readonly owner: string;
  readonly toolParts: ToolParts;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
  /** The logger of a session, by its id. */
  readonly loggerOf: (id: string) => Logger;
}
