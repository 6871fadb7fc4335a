import { checkOptions, required, type OptionForms } from "@moora/agent-core-effects/internal";
import {
  LogError,
  type DisposableLog,
  type LiveChannel,
  type LogInfo,
  type SessionLog,
} from "@moora/event-log";
import { HeadWatch, type AppendNotice, logClosed, logExists, validHeader } from "@moora/event-log/store";
import { sessionCall, type SessionCall } from "./ingress.ts";
import { listSessions } from "./listed-sessions.ts";
import { logCall } from "./log-calls.ts";
import { headTopic, idForm, ingressForm, liveForm, serviceNames } from "./options.ts";
import { readHeads } from "./read-heads.ts";
import { restateOwner, RestateSessionLog, type SharedLog } from "./session-log.ts";

/** The options of `restateLog`. */
export interface RestateLogOptions {
  /** The URL of the ingress of Restate, such as "http://127.0.0.1:8080". */
  readonly ingressUrl: string;
  /** The name of the agent. */
  readonly agent: string;
  /** The URL of the admin API, such as "http://127.0.0.1:9070", which lists sessions. Default: none, and `list` is refused. */
  readonly adminUrl?: string;
  /**
   * The live channel that `restateServices` of the agent has, also in other processes, such as `live` of a `postgresLog`. Servers show what
   * models and tools stream, and records at once. Default: none; servers show records only, within a second.
   */
  readonly live?: LiveChannel;
}

const forms: OptionForms<RestateLogOptions> = {
  ingressUrl: required(ingressForm),
  agent: required("string"),
  adminUrl: ingressForm,
  live: liveForm,
};

/**
 * The sessions of an agent on Restate as a log, for servers that show them and post to them, such as `createAgentServer`. Restate owns
 * the sessions and runs their effects: an opening with access `run` is refused as `SessionBusy`. The objects on Restate make
 * the records, so that an append of others is refused as `InvalidRecord`. Throws `BuildError` for invalid options, and for an
 * agent whose name is not the name of a service.
 */
export function restateLog(options: RestateLogOptions): DisposableLog {
  checkOptions("restateLog", options, forms);
  return new RestateLog(options);
}

/** The most sessions whose heads one poll reads. */
const keysPerPoll = 50;

class RestateLog implements DisposableLog {
  readonly name = "restate";
  readonly owner = restateOwner;
  readonly live?: LiveChannel;
  readonly #options: RestateLogOptions;
  readonly #service: string;
  readonly #call: SessionCall;
  readonly #watch: HeadWatch;
  readonly #shared: SharedLog;
  #isClosed = false;

  constructor(options: RestateLogOptions) {
    const { ingressUrl, agent, live } = options;
    this.#options = options;
    this.#service = serviceNames(agent).session;
    const call = logCall(sessionCall(ingressUrl, agent));
    this.#call = (...given) => {
      this.#checkOpen();
      return call(...given);
    };
    if (live !== undefined) this.live = live;
    this.#watch = new HeadWatch({
      keysPerPoll,
      headsOf: (ids) => readHeads((id) => this.#call(id, "head", null), ids),
      ...(live === undefined ? {} : { source: (onChange) => this.#changesOf(live, onChange) }),
    });
    this.#shared = {
      call: this.#call,
      watch: (id, listener, owner) => this.#watch.add(id, listener, owner),
      appended: (id, by, head) => this.#changed(id, { by, head }),
    };
  }

  async create(id: string, header: string): Promise<SessionLog> {
    this.#checkId(id);
    if (!(await this.#call(id, "create", { header: validHeader(header) }))) throw logExists(id);
    return new RestateSessionLog({ id, header }, this.#shared);
  }

  async open(id: string): Promise<SessionLog | undefined> {
    this.#checkId(id);
    const header = await this.#call(id, "header", null);
    return header === null ? undefined : new RestateSessionLog({ id, header }, this.#shared);
  }

  async list(): Promise<readonly LogInfo[]> {
    this.#checkOpen();
    const { adminUrl } = this.#options;
    if (adminUrl === undefined)
      throw new LogError("InvalidOption", "restateLog needs adminUrl to list sessions.");
    return await listSessions(adminUrl, this.#service);
  }

  /** The sub-agents of a session on Restate run in memory. */
  called(): readonly LogInfo[] {
    this.#checkOpen();
    return [];
  }

  async remove(id: string): Promise<boolean> {
    this.#checkId(id);
    const wasThere = await this.#call(id, "remove", null);
    if (wasThere) this.#changed(id);
    return wasThere;
  }

  close(): void {
    this.#isClosed = true;
    this.#watch.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #changed(id: string, append?: AppendNotice): void {
    this.#watch.notify(id, append);
    this.live?.publish(headTopic(this.#service), id);
  }

  /** Calls back with the sessions that have changed elsewhere. */
  #changesOf(live: LiveChannel, onChange: (ids: readonly string[]) => void): () => void {
    return live.subscribe(headTopic(this.#service), (id) => onChange([id]));
  }

  /** Throws `InvalidId` for an id that no session on Restate has, and if the log is closed. */
  #checkId(id: string): void {
    this.#checkOpen();
    if (idForm.fits(id)) return;
    throw new LogError("InvalidId", `The id of a session must be ${idForm.expectation}.`);
  }

  #checkOpen(): void {
    if (this.#isClosed) throw logClosed();
  }
}
