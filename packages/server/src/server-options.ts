import {
  BuildError,
  needsContext,
  systemClock,
  type Agent,
  type BlobOptions,
  type Clock,
  type EventLog,
  type LogListener,
} from "@moora/agent";
import { Logger, safeErrorListener } from "@moora/agent/internal";
import { blobProblem, optionHint } from "@moora/agent-core-effects/internal";
import type { Authorize, SessionRef } from "./access/authorization.ts";
import { checkedHosts, checkedOrigin } from "./access/site-options.ts";
import type { McpHost, McpRoute } from "./mcp/mcp-option.ts";
import { LiveHub } from "./live/live-hub.ts";
import { checkNumbers, checkValues } from "./check-values.ts";
import { ServerCounters } from "./metrics/server-counters.ts";
import { workerOptionsOf, type WorkerOptions } from "./worker/worker-options.ts";

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
  /** The log with the sessions. Other processes may use it at the same time. */
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
  /** Receives every error that a client sees as `internal`, and every error of a session. Default: `console.error`. */
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
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
  /** The logger of a session, by its id. */
  readonly loggerOf: (id: string) => Logger;
}

const knownOptions: Readonly<Record<keyof AgentServerOptions, true>> = {
  agents: true,
  log: true,
  authorize: true,
  allowedHosts: true,
  allowedOrigins: true,
  basePath: true,
  worker: true,
  blobs: true,
  context: true,
  metrics: true,
  inspector: true,
  mcp: true,
  limits: true,
  owner: true,
  leaseMs: true,
  clock: true,
  onError: true,
  onLog: true,
};

/** Throws `BuildError` for an unknown or invalid option. */
export function contextOf(options: AgentServerOptions): ServerContext {
  checkValues(options);
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(knownOptions, name));
  if (unknown !== undefined) {
    const hint = optionHint(unknown, Object.keys(knownOptions));
    throw new BuildError(`Unknown option "${unknown}" of createAgentServer.${hint}`);
  }
  const { agents, basePath = "", allowedHosts = [], allowedOrigins = [] } = options;
  if (typeof options.log?.open !== "function")
    throw new BuildError("log must be an event log. Give one, such as sqliteLog(file) or memoryLog().");
  if (options.authorize !== undefined && typeof options.authorize !== "function")
    throw new BuildError("authorize must be a function that returns the user of a request.");
  checkFiles(options);
  checkContexts(options);
  if (!/^(\/[A-Za-z0-9._~-]+)*$/.test(basePath))
    throw new BuildError(`basePath must be a path such as "/api", got ${JSON.stringify(basePath)}.`);
  const clock = options.clock ?? systemClock;
  const { live } = options.log;
  return {
    ...options,
    agents: agentsByName(agents),
    allowedHosts: checkedHosts(allowedHosts, options.authorize),
    allowedOrigins: new Set(allowedOrigins.map(checkedOrigin)),
    basePath,
    limits: { ...defaultServerLimits, ...checkNumbers("limits", options.limits ?? {}, defaultServerLimits) },
    blobs: options.blobs ?? (options.log.blobs === undefined ? false : {}),
    worker: workerOptionsOf(options.worker ?? false, options.log),
    counters: new ServerCounters(),
    owner: options.owner ?? `server-${crypto.randomUUID()}`,
    liveHub: live === undefined ? undefined : new LiveHub(live, clock),
    clock,
    onError: safeErrorListener(options.onError),
    loggerOf: (id) => new Logger(id, options.onLog),
  };
}

/** Throws `BuildError` for options of files that `openSession` would refuse. */
function checkFiles({ blobs, log }: AgentServerOptions): void {
  const problem = blobs === false ? undefined : blobProblem("createAgentServer", blobs, log.blobs);
  if (problem !== undefined) throw new BuildError(problem);
}

/** Throws `BuildError` for an agent that needs a context which the server does not give. */
function checkContexts({ agents, context, log }: AgentServerOptions): void {
  if (context !== undefined || log.owner !== undefined) return;
  const needy = agents.find(needsContext);
  if (needy === undefined) return;
  throw new BuildError(
    `The agent "${needy.name}" needs a context. Give createAgentServer the option context.`,
  );
}

function agentsByName(agents: readonly Agent<unknown>[]): ReadonlyMap<string, Agent<unknown>> {
  if (!Array.isArray(agents) || agents.length === 0)
    throw new BuildError("agents must be a list of one or more agents.");
  const byName = new Map(agents.map((agent) => [agent.name, agent]));
  const double = agents.find((agent) => byName.get(agent.name) !== agent);
  if (double !== undefined) {
    throw new BuildError(
      `Two agents have the name "${double.name}". Give each one its own: defineAgent({ name }).`,
    );
  }
  return byName;
}
