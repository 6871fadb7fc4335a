import { checkOptions, refuse, type OptionForms } from "@moora/agent-core-effects/internal";
import { systemClock } from "@moora/agent";
import { engineClaim, takeLeaseForEngine } from "@moora/agent/internal";
import type { DisposableLog, EventLog } from "@moora/event-log";
import { withSessions } from "@moora/event-log/store";
import type { AppendingClient } from "./append-client.ts";
import { sessionOnDbos } from "./dbos-session-log.ts";
import { dbosEngine } from "./engine.ts";

/** The options of `dbosLog`. */
export interface DbosLogOptions {
  /** The log with the sessions, as `dbosHost` has it. It stays open when this one is closed. */
  readonly log: EventLog;
  /** A `DBOSClient` of the database of DBOS, which starts the workflows of appends. It stays open as well. */
  readonly client: AppendingClient;
  /** How long an append waits for a process with the host of its agent, in milliseconds. Default: 30,000. */
  readonly waitMs?: number;
}

const forms: OptionForms<DbosLogOptions> = { log: "any", client: "any", waitMs: "positive" };

/**
 * The sessions on DBOS as a log, for servers that show them and post to them, such as `createAgentServer`, in any process. DBOS owns the
 * sessions and runs their effects: an opening with access `run` is refused as `SessionBusy`. Each append is a workflow of the
 * host of its agent, which refuses inputs that only the workflows dispatch, as `InvalidRecord`. While no process with that host runs, an
 * append rejects after `waitMs` with `LogWrite`, and may be made later. Throws `BuildError` for invalid options.
 */
export function dbosLog(options: DbosLogOptions): DisposableLog {
  checkOptions("dbosLog", options, forms);
  if (typeof options.log?.open !== "function" || options.log.owner !== undefined)
    refuse("dbosLog needs log, the event log of dbosHost, such as postgresLog(url).");
  if (typeof options.client?.enqueue !== "function")
    refuse("dbosLog needs client. Give one: await DBOSClient.create({ systemDatabaseUrl }).");
  const { log, client, waitMs = 30_000 } = options;
  const { blobs, page, called } = log;
  const altered = withSessions(log, (session) => sessionOnDbos(session, { client, waitMs }), {
    name: "dbos",
    owner: dbosEngine,
    ...(blobs === undefined ? {} : { blobs }),
    ...(page === undefined ? {} : { page: page.bind(log) }),
    ...(called === undefined ? {} : { called: called.bind(log) }),
    async create(id, header) {
      const session = await log.create(id, header, engineClaim(dbosEngine, systemClock.now()));
      // A log of your own may ignore the claim.
      await takeLeaseForEngine(session, dbosEngine, systemClock);
      return session;
    },
    // The log and the client belong to the caller.
    close: () => undefined,
  });
  return { ...altered, [Symbol.asyncDispose]: async () => undefined };
}
