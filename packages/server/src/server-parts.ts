import type { McpRoute } from "@moora/agent/internal";
import { RequestRate } from "./access/request-rate.ts";
import { DeliveredLoops } from "./chat/delivered-loops.ts";
import type { ServerContext } from "./server-options.ts";
import { StreamCounter } from "./events/stream-counter.ts";
import { storeOf } from "./files/files-of-session.ts";
import { SessionDirectory } from "./sessions/directory.ts";
import { SessionDetails } from "./sessions/session-details.ts";
import type { LiveSession } from "./sessions/live-session.ts";
import { PostLedger } from "./sessions/post-ledger.ts";
import { SessionForks } from "./sessions/session-forks.ts";
import { SessionPool } from "./sessions/session-pool.ts";
import { SessionWorker } from "./worker/session-worker.ts";

/** The parts that the routes of one server share. */
export class ServerParts {
  readonly context: ServerContext;
  readonly directory: SessionDirectory;
  readonly pool: SessionPool;
  readonly details: SessionDetails;
  readonly forks: SessionForks;
  readonly streams: StreamCounter;
  /** Undefined for a server without the option `mcp`. */
  readonly mcp: McpRoute | undefined;
  /** Undefined for a server without a worker. */
  readonly worker: SessionWorker | undefined;
  readonly requestRate: RequestRate;
  readonly deliveredLoops: DeliveredLoops = new DeliveredLoops();
  /** Ends each open stream. */
  readonly streamEnds: Set<() => void> = new Set();
  readonly #ledgers = new WeakMap<LiveSession, PostLedger>();
  isClosing = false;

  constructor(context: ServerContext) {
    this.context = context;
    this.directory = new SessionDirectory(context);
    this.pool = new SessionPool(context);
    this.details = new SessionDetails(this.pool);
    this.forks = new SessionForks(context.log);
    this.streams = new StreamCounter(context.limits);
    const { agents, onError } = context;
    this.mcp = context.mcp?.({ agents: [...agents.values()], onError });
    this.worker = context.worker === undefined ? undefined : new SessionWorker(this, context.worker);
    this.requestRate = new RequestRate(context.clock, context.limits);
  }

  /** The metrics of this server, in the text format of Prometheus. */
  metricsText(): string {
    return this.context.counters.toText([
      { name: "moora_open_sessions", help: "Sessions in memory.", value: this.pool.size },
      { name: "moora_open_streams", help: "Open streams of events and chats.", value: this.streams.count },
      {
        name: "moora_worker_running_sessions",
        help: "Sessions that the worker runs.",
        value: this.worker?.size ?? 0,
      },
    ]);
  }

  /** The posts of a session. */
  ledgerOf(live: LiveSession): PostLedger {
    const known = this.#ledgers.get(live);
    if (known !== undefined) return known;
    const ledger = new PostLedger(live, storeOf(this.context));
    this.#ledgers.set(live, ledger);
    return ledger;
  }
}
