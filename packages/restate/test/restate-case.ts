import { setTimeout as pause } from "node:timers/promises";
import { initialStateOf, type AgentInput, type AgentState } from "@moora/agent";
import {
  conformanceAgent,
  type CommitDeath,
  type PreparedHost,
  type ProcessOptions,
} from "@moora/agent-testing/hosts";
import { memoryLog, type EventLog } from "@moora/event-log";
import { restateLog, restateSession, type RestateSession } from "../src/index.ts";
import { DyingIngress } from "./dying-ingress.ts";
import type { RestateHost } from "./restate-host.ts";

export interface CaseHooks {
  readonly listen: (id: string, listener: (text: string) => void) => void;
  readonly end: () => void;
}

/** A case of the suite, with sessions of its own. */
export class RestateCase implements PreparedHost {
  readonly #host: RestateHost;
  readonly #sessionIdOf: (name: string) => string;
  readonly #hooks: CaseHooks;
  /** The ingress of a process that dies at a record. */
  #dying: DyingIngress | undefined;
  /** Resolves when that process has died, and no other one was started; undefined while it lives. */
  #death: Promise<void> | undefined;
  /** Resolves with undefined when a process dies at a record: reads that it has begun end only with the next one. */
  #died: Promise<undefined> = new Promise(() => undefined);
  /** Starts run one after the other. */
  #starting: Promise<void> = Promise.resolve();

  constructor(host: RestateHost, sessionIdOf: (name: string) => string, hooks: CaseHooks) {
    this.#host = host;
    this.#sessionIdOf = sessionIdOf;
    this.#hooks = hooks;
  }

  async start(options: ProcessOptions = {}): Promise<void> {
    const started = this.#starting.then(() => this.#start(options));
    this.#starting = started.catch(() => undefined);
    await started;
  }

  async #start({ release = 1, death, onDeath }: ProcessOptions): Promise<void> {
    await this.#death;
    this.#death = undefined;
    await this.#dying?.[Symbol.asyncDispose]();
    this.#dying = death === undefined ? undefined : await this.#ingressOf(death, onDeath);
    await this.#host.serve(release, this.#dying?.url);
  }

  async #ingressOf(death: CommitDeath, onDeath: (() => void) | undefined): Promise<DyingIngress> {
    const { ingressUrl } = this.#host;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#died = promise;
    const kill = async (): Promise<void> => {
      this.#death = this.#host.killService();
      await this.#death;
      resolve(undefined);
      onDeath?.();
    };
    return await DyingIngress.start({ ingressUrl, agent: "conformance", death, kill });
  }

  async kill(): Promise<void> {
    await this.#host.kill();
  }

  async post(id: string, input: AgentInput): Promise<boolean> {
    const send = (): Promise<boolean> => this.#sessionOf(id).post(input);
    return this.#dying === undefined
      ? await send()
      : await this.#dying.commit(this.#sessionIdOf(id), 1, send);
  }

  async waitFor(id: string, isReached: (state: AgentState) => boolean): Promise<AgentState> {
    const session = this.#sessionOf(id);
    for (;;) {
      // Only a process reads a session: one that died at the last record is started again.
      if (this.#death !== undefined) await this.start();
      const reading = this.#read(session);
      reading.catch(() => undefined);
      const state = await Promise.race([reading, this.#died]);
      if (state === undefined) this.#died = new Promise(() => undefined);
      else if (isReached(state)) return state;
      else await pause(10);
    }
  }

  async #read(session: RestateSession): Promise<AgentState> {
    return (await session.current())?.state ?? initialState;
  }

  async remove(id: string): Promise<void> {
    const log = restateLog({ ingressUrl: this.#host.ingressUrl, agent: "conformance" });
    await log.remove(this.#sessionIdOf(id));
    await log.close();
  }

  async watch(id: string, listener: (text: string) => void): Promise<() => void> {
    this.#hooks.listen(id, listener);
    return () => undefined;
  }

  #sessionOf(name: string): RestateSession {
    const { ingressUrl } = this.#host;
    return restateSession({ ingressUrl, agent: "conformance", id: this.#sessionIdOf(name) });
  }

  async log(id: string): Promise<EventLog> {
    const session = this.#sessionOf(id);
    const [copied] = await (await session.toLog()).list();
    const found = await (await session.toLog()).open(copied?.id ?? "");
    const log = memoryLog();
    if (found !== undefined) await (await log.create(id, found.header)).append(0, await found.read());
    return log;
  }

  async dispose(): Promise<void> {
    await this.#dying?.[Symbol.asyncDispose]();
    this.#hooks.end();
  }
}

const initialState = initialStateOf(conformanceAgent({ reach: () => Promise.resolve() }));
