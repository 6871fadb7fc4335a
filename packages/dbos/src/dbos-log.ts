import { checkOptions, refuse, type OptionForms } from "@moora/agent-core-effects/internal";
import { systemClock } from "@moora/agent";
import { engineClaim, takeLeaseForEngine } from "@moora/agent/internal";
import type { BlobStore, DisposableLog, EventLog, LogInfo, SessionLog } from "@moora/event-log";
import type { AppendingClient, AppendOptions } from "./append-client.ts";
import { DbosSessionLog } from "./dbos-session-log.ts";
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
  return new DbosLog(options);
}

class DbosLog implements DisposableLog {
  readonly name = "dbos";
  readonly owner = dbosEngine;
  readonly blobs?: BlobStore;
  readonly page?: NonNullable<EventLog["page"]>;
  readonly called?: NonNullable<EventLog["called"]>;
  readonly #log: EventLog;
  readonly #options: AppendOptions;

  constructor({ log, client, waitMs = 30_000 }: DbosLogOptions) {
    this.#log = log;
    this.#options = { client, waitMs };
    const { blobs } = log;
    if (blobs !== undefined) this.blobs = blobs;
    if (log.page !== undefined) this.page = log.page.bind(log);
    if (log.called !== undefined) this.called = log.called.bind(log);
  }

  async create(id: string, header: string): Promise<SessionLog> {
    const session = await this.#log.create(id, header, engineClaim(dbosEngine, systemClock.now()));
    // A log of your own may ignore the claim.
    await takeLeaseForEngine(session, dbosEngine, systemClock);
    return new DbosSessionLog(session, this.#options);
  }

  async open(id: string): Promise<SessionLog | undefined> {
    const session = await this.#log.open(id);
    return session && new DbosSessionLog(session, this.#options);
  }

  async list(): Promise<readonly LogInfo[]> {
    return await this.#log.list();
  }

  async remove(id: string): Promise<boolean> {
    return await this.#log.remove(id);
  }

  /** The log and the client belong to the caller. */
  close(): void {}

  async [Symbol.asyncDispose](): Promise<void> {}
}
