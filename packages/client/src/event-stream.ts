import type { AgentInput, Clock } from "@moora/agent";
import type { ChunkEvent } from "@moora/agent-webui-protocol";
import { readServerSentEvents } from "@moora/agent-webui-protocol/server-sent-events";
import { ClientError } from "./client-error.ts";
import { RetryWait, type RetryDelays } from "./retry-wait.ts";
import { Unreachable, type ServerApi } from "./server-api.ts";

export interface StreamHost {
  readonly api: ServerApi;
  readonly clock: Clock;
  readonly path: string;
  readonly delays: RetryDelays;
  /** After how many milliseconds without a byte the connection counts as lost. */
  readonly streamIdleMs: number;
  /** The last record that was folded. */
  readonly seq: () => number;
  /** The query that identifies what was folded. */
  readonly query: () => string;
  readonly onInput: (seq: number, input: AgentInput) => void;
  readonly onChunk: (chunk: ChunkEvent) => void;
  readonly onConnected: () => void;
  /** The connection is lost, and made again after a wait of `ms` milliseconds. */
  readonly onWaiting: (ms: number, cause: unknown) => void;
  readonly onConnecting: () => void;
  /** The session cannot continue. */
  readonly onFatal: (error: unknown) => void;
}

/** A stream that ends after at least this time has ended as planned, in milliseconds. */
const plannedMs = 10_000;

/** The connection over which the records of a session arrive. It is made again when it is lost, and resumes after the last record. */
export class EventStream {
  readonly #host: StreamHost;
  readonly #wait: RetryWait;
  readonly #end = new AbortController();
  /** The connection that is made or read now. */
  #current: IdleTimer | undefined;
  /** Whether records can arrive over it. */
  #isConnected = false;
  /** Whether the next connection is made without a wait. */
  #isUrgent = false;

  constructor(host: StreamHost) {
    this.#host = host;
    this.#wait = new RetryWait(host.clock, host.delays);
  }

  /** Reads until `close`, or until the session cannot continue. Never rejects. */
  async run(): Promise<void> {
    const { onConnecting, onFatal } = this.#host;
    while (!this.#end.signal.aborted) {
      this.#isUrgent = false;
      onConnecting();
      const cause = await this.#connect();
      if (this.#end.signal.aborted) return;
      if (!(cause instanceof Unreachable)) return onFatal(cause);
      if (this.#isUrgent) continue;
      const ms = this.#lost(cause);
      // A listener may have closed the session, or asked for a connection.
      if (!this.#end.signal.aborted && !this.#isUrgent) await this.#wait.wait(ms);
    }
  }

  /** Reports that there is no connection. Returns how long to wait before the next one is made, in milliseconds. */
  #lost(cause: Unreachable): number {
    const { onConnecting, onWaiting } = this.#host;
    if (cause instanceof PlannedEnd) {
      onConnecting();
      return this.#wait.spread();
    }
    const ms = this.#wait.failed(cause.retryAfterMs);
    onWaiting(ms, cause.cause);
    return ms;
  }

  /** Makes the connection at once: instead of the current one, which may be dead, and instead of at the end of the wait. */
  reconnect(): void {
    this.#isUrgent = true;
    this.#current?.expire(new Error("The connection is made again."));
    this.#wait.wake();
  }

  /** Gives up the connection, if there is one, and makes another one: it does not show what the server has. */
  restart(): void {
    if (this.#isConnected)
      this.#current?.expire(new Error("The connection does not show the newest records."));
  }

  close(): void {
    this.#end.abort();
    this.#wait.wake();
  }

  /** Why a stream has ended without an error: the server ends each one after a while, to authorize the reader again. */
  #ended(begin: number): Unreachable {
    const isPlanned = this.#host.clock.now() - begin >= plannedMs;
    return new (isPlanned ? PlannedEnd : Unreachable)(new Error("The stream ended."));
  }

  /** Reads one connection to its end, and returns why it ended: `Unreachable` if another one may succeed. */
  async #connect(): Promise<unknown> {
    const { api, path, seq, query, onConnected } = this.#host;
    const idle = new IdleTimer(this.#host);
    this.#current = idle;
    const signal = AbortSignal.any([this.#end.signal, idle.signal]);
    try {
      const headers = { accept: "text/event-stream", "last-event-id": String(seq()) };
      const { body } = await api.open(`${path}${query()}`, { headers, signal });
      if (body === null) return new Unreachable(new Error("The stream has no body."));
      const begin = this.#host.clock.now();
      this.#isConnected = true;
      onConnected();
      for await (const { event, data } of readServerSentEvents(body, () => idle.restart())) {
        this.#wait.succeeded();
        this.#take(event, data);
      }
      return this.#ended(begin);
    } catch (error) {
      const isLost = idle.signal.aborted || !(error instanceof ClientError || error instanceof FoldFailed);
      return isLost && !(error instanceof Unreachable) ? new Unreachable(error) : causeOfFold(error);
    } finally {
      this.#current = undefined;
      this.#isConnected = false;
      idle.stop();
    }
  }

  #take(event: string, data: string): void {
    const { seq: last, onInput, onChunk } = this.#host;
    // What the server of this protocol sends; events of later releases are left out.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    if (event === "chunk") return onChunk(JSON.parse(data) as ChunkEvent);
    if (event !== "input") return;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const { seq, input } = JSON.parse(data) as { readonly seq: number; readonly input: AgentInput };
    if (seq <= last()) return;
    if (seq !== last() + 1) throw new Error(`Record ${seq} follows record ${last()}.`);
    try {
      onInput(seq, input);
    } catch (error) {
      throw new FoldFailed(error);
    }
  }
}

/** The server has ended the stream, to authorize its reader again or since it is closed. */
class PlannedEnd extends Unreachable {}

/** The reducer threw: reading the record again does not help. */
class FoldFailed extends Error {
  constructor(cause: unknown) {
    super("The record could not be folded.", { cause });
  }
}

const causeOfFold = (error: unknown): unknown => (error instanceof FoldFailed ? error.cause : error);

/** Aborts a connection on which nothing has arrived for a while: a lost one may never say so. */
class IdleTimer {
  readonly #host: Pick<StreamHost, "clock" | "streamIdleMs">;
  readonly #late = new AbortController();
  #cancel: () => void = () => undefined;

  constructor(host: Pick<StreamHost, "clock" | "streamIdleMs">) {
    this.#host = host;
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#late.signal;
  }

  restart(): void {
    const { clock, streamIdleMs } = this.#host;
    this.#cancel();
    const expire = (): void => this.expire(new Error("The connection is silent."));
    this.#cancel = clock.after(streamIdleMs, expire, { keepsAlive: false });
  }

  /** Aborts the connection. */
  expire(reason: Error): void {
    this.#late.abort(reason);
  }

  stop(): void {
    this.#cancel();
  }
}
