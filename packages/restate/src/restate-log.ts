import type { OptionForms } from "@moora/agent-core-effects/internal";
import {
  LogError,
  type DisposableLog,
  type LiveChannel,
  type LogInfo,
  type SessionLog,
} from "@moora/event-log";
import { HeadWatch, logClosed, logExists, validHeader } from "@moora/event-log/store";
import { checkRequired, idForm, ingressForm, serviceNames } from "./options.ts";
import { headTopic } from "./head-topic.ts";
import { listSessions } from "./listed-sessions.ts";
import { LogCalls } from "./log-calls.ts";
import { RestateSessionLog } from "./session-log.ts";

/** The options of `restateLog`. */
export interface RestateLogOptions {
  /** The URL of the ingress of Restate, such as "http://127.0.0.1:8080". */
  readonly ingressUrl: string;
  /** The name of the agent. */
  readonly agent: string;
  /** The URL of the admin API, such as "http://127.0.0.1:9070", for `list`. Default: none, and `list` fails. */
  readonly adminUrl?: string;
  /**
   * Has what the effects of sessions stream, and when they have reported: give its other end to `effectPublisher` in the processes
   * with the services. Default: none; servers show records only, up to a second after they were stored.
   */
  readonly live?: LiveChannel;
}

const forms: OptionForms<RestateLogOptions> = {
  ingressUrl: ingressForm,
  agent: "string",
  adminUrl: ingressForm,
  live: "object",
};

/**
 * The sessions of an agent on Restate as a log, for servers that show them and post to them, such as `createAgentServer`. Restate owns
 * their leases, so that an opening with access `run` fails as `SessionBusy`, and posts are inputs of the objects on Restate. Records that
 * no session of this agent makes are refused as `InvalidRecord`. Sessions are not removed, and have no snapshots. Throws
 * `BuildError` for invalid options, and for an agent whose name is not the name of a service.
 */
export function restateLog(options: RestateLogOptions): DisposableLog {
  checkRequired("restateLog", options, { forms, required: ["ingressUrl", "agent"] });
  return new RestateLog(options);
}

class RestateLog implements DisposableLog {
  readonly name = "restate";
  readonly live?: LiveChannel;
  readonly #options: RestateLogOptions;
  readonly #service: string;
  readonly #calls: LogCalls;
  readonly #watch: HeadWatch;
  #isClosed = false;

  constructor(options: RestateLogOptions) {
    const { ingressUrl, agent, live } = options;
    this.#options = options;
    this.#service = serviceNames(agent).session;
    this.#calls = new LogCalls({ ingressUrl, service: this.#service });
    if (live !== undefined) this.live = live;
    this.#watch = new HeadWatch({
      headsOf: (ids) => this.#headsOf(ids),
      ...(live === undefined ? {} : { source: (onChange) => this.#changesOf(live, onChange) }),
    });
  }

  async create(id: string, header: string): Promise<SessionLog> {
    this.#checkOpen();
    checkId(id);
    if (!(await this.#calls.create(id, validHeader(header)))) throw logExists(id);
    return this.#sessionLog(id, header);
  }

  async open(id: string): Promise<SessionLog | undefined> {
    this.#checkOpen();
    checkId(id);
    const header = await this.#calls.readHeader(id);
    return header === undefined ? undefined : this.#sessionLog(id, header);
  }

  async list(): Promise<readonly LogInfo[]> {
    this.#checkOpen();
    const { adminUrl } = this.#options;
    if (adminUrl === undefined)
      throw new LogError("InvalidOption", "restateLog needs adminUrl to list sessions.");
    return await listSessions(adminUrl, this.#service);
  }

  remove(id: string): never {
    throw new LogError("LogWrite", `The session ${JSON.stringify(id)} is on Restate, where none is removed.`);
  }

  close(): void {
    this.#isClosed = true;
    this.#watch.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #sessionLog(id: string, header: string): SessionLog {
    return new RestateSessionLog({ id, header }, { calls: this.#calls, watch: this.#watch });
  }

  async #headsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const heads = await Promise.all(
      ids.map(async (id) => [id, String(await this.#calls.readSeq(id))] as const),
    );
    return new Map(heads);
  }

  /** Reports the sessions whose effects have reported. */
  #changesOf(live: LiveChannel, onChange: (ids: readonly string[]) => void): () => void {
    return live.subscribe(headTopic(this.#service), (id) => onChange([id]));
  }

  #checkOpen(): void {
    if (this.#isClosed) throw logClosed();
  }
}

/** Throws `InvalidId` for an id that no session on Restate has. */
function checkId(id: string): void {
  if (idForm.fits(id)) return;
  throw new LogError("InvalidId", `The id of a session must be ${idForm.expectation}.`);
}
