import type { ServerContext } from "./server-options.ts";
import { StreamCounter } from "./events/stream-counter.ts";
import { SessionDirectory } from "./sessions/directory.ts";
import type { LiveSession } from "./sessions/live-session.ts";
import { PostLedger } from "./sessions/request-ids.ts";
import { SessionPool } from "./sessions/session-pool.ts";

/** The parts that the routes of one server share. */
export class ServerParts {
  readonly context: ServerContext;
  readonly directory: SessionDirectory;
  readonly pool: SessionPool;
  readonly streams: StreamCounter;
  /** Ends each open stream. */
  readonly streamEnds: Set<() => void> = new Set();
  readonly #ledgers = new WeakMap<LiveSession, PostLedger>();
  isClosing = false;

  constructor(context: ServerContext) {
    this.context = context;
    this.directory = new SessionDirectory(context);
    this.pool = new SessionPool(context);
    this.streams = new StreamCounter(context.limits);
  }

  /** The posts of a session. */
  ledgerOf(live: LiveSession): PostLedger {
    const known = this.#ledgers.get(live);
    if (known !== undefined) return known;
    const ledger = new PostLedger(live);
    this.#ledgers.set(live, ledger);
    return ledger;
  }
}
