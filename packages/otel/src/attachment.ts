import {
  agentTransition,
  identityOf,
  initialStateOf,
  type AgentInput,
  type AgentState,
  type DurableSession,
  type LoggedInput,
  type Session,
} from "@moora/agent";
import { inTurns } from "@moora/agent/internal";
import { isLoopRunning } from "@moora/agent-core-state-machine";
import type { SpanContext } from "@opentelemetry/api";
import type { Delivery, DeliverySource } from "./delivery.ts";
import type { SessionMetrics } from "./metrics.ts";
import { SpanProjection, type ProjectionOptions } from "./projection.ts";

/** Where the positions of sessions are stored: up to which input all spans of a session have been exported. */
export interface PositionStore {
  /** The stored position of a session; undefined if there is none. */
  load(identity: string): number | undefined | Promise<number | undefined>;
  /** Stores a position, which replaces the one before. Calls for one session follow one another. */
  save(identity: string, seq: number): void | Promise<void>;
}

/** What an attachment shares with those of other sessions. */
export interface AttachmentHost {
  /** Undefined if there is no exporter. */
  readonly delivery: Delivery | undefined;
  readonly metrics: SessionMetrics;
  readonly positions: PositionStore | undefined;
  readonly projection: Pick<ProjectionOptions, "resource" | "capture" | "provider">;
  readonly onError: (error: unknown) => void;
}

/** The part of a session that is followed. */
export type FollowedSession = Pick<Session<unknown>, "id" | "current" | "seq" | "onInput"> &
  Partial<Pick<DurableSession<unknown>, "header" | "history">>;

/** What distinguishes one attachment. */
export interface AttachmentOptions {
  readonly agentName: string;
  readonly parent: SpanContext | undefined;
  /** Called when the loop of a session with a single loop has ended, and the session has nothing more to report. */
  readonly onLoopEnd?: (() => void) | undefined;
}

interface Waiting {
  readonly input: AgentInput;
  readonly state: AgentState;
  readonly seq: number;
}

/** Follows one session: computes its spans and metrics, and delivers those behind its position. */
export class Attachment implements DeliverySource {
  /** Resolves when the past of the session has been read. Rejects if that fails; nothing is exported then. */
  readonly ready: Promise<void>;
  readonly #host: AttachmentHost;
  readonly #options: ProjectionOptions;
  readonly #positions: PositionStore | undefined;
  readonly #onLoopEnd: (() => void) | undefined;
  readonly #stop: () => void;
  #projection: SpanProjection | undefined;
  /** The inputs that arrive while the past is read; undefined after that. */
  #waiting: Waiting[] | undefined = [];
  /** What ended up to this sequence number is not exported. */
  #from = 0;
  #saving: Promise<void> = Promise.resolve();

  constructor(session: FollowedSession, host: AttachmentHost, options: AttachmentOptions) {
    const { header, id: sessionId } = session;
    const { agentName, parent } = options;
    const identity = header === undefined ? sessionId : identityOf(sessionId, header);
    this.#host = host;
    this.#options = { ...host.projection, identity, sessionId, agentName, parent };
    this.#positions = header === undefined ? undefined : host.positions;
    this.#onLoopEnd = options.onLoopEnd;
    // Before anything is read, so that no input is missed.
    this.#stop = session.onInput((input, state, seq) => this.#receive({ input, state, seq }));
    this.ready = this.#begin(session);
  }

  detach(): void {
    this.#stop();
    this.#waiting = undefined;
    this.#projection = undefined;
  }

  delivered(seq: number): void {
    const positions = this.#positions;
    if (positions === undefined) return;
    const { identity } = this.#options;
    this.#saving = this.#saving
      .then(() => positions.save(identity, seq))
      .catch((error: unknown) => this.#host.onError(error));
  }

  /** Resolves when the last position is stored. */
  saved(): Promise<void> {
    return this.#saving;
  }

  async #begin(session: FollowedSession): Promise<void> {
    try {
      const state = await this.#readPast(session);
      for (const waiting of this.#waiting ?? []) this.#apply(waiting);
      const last = this.#waiting?.at(-1)?.state ?? state;
      this.#waiting = undefined;
      if (last.reActContext.loop > 0) this.#checkLoopEnd(last);
    } catch (error) {
      this.detach();
      throw error;
    }
  }

  /** Reads what precedes the inputs that are followed. Returns the state after it. */
  async #readPast(session: FollowedSession): Promise<AgentState> {
    const seq = session.seq();
    const { header } = session;
    if (header === undefined || session.history === undefined) {
      const current: AgentState = session.current();
      this.#from = seq;
      this.#projection = new SpanProjection(current, this.#options);
      return current;
    }
    const position = await this.#positions?.load(this.#options.identity);
    const past = await session.history();
    this.#from = position ?? (this.#positions === undefined ? openingIn(past, seq) - 1 : 0);
    let state = initialStateOf(header);
    this.#projection = new SpanProjection(state, this.#options);
    const { delivery } = this.#host;
    const read = past.filter((logged) => logged.seq <= seq);
    await inTurns(read, (logged) => {
      state = agentTransition(logged.input)(state);
      this.#project({ input: logged.input, state, seq: logged.seq });
      return delivery?.isCrowded === true ? delivery.flush() : undefined;
    });
    return state;
  }

  #receive(received: Waiting): void {
    if (this.#waiting !== undefined) return void this.#waiting.push(received);
    this.#apply(received);
    this.#checkLoopEnd(received.state);
  }

  #apply(received: Waiting): void {
    try {
      this.#project(received);
    } catch (error) {
      this.#host.onError(error);
    }
  }

  #project({ input, state, seq }: Waiting): void {
    const projection = this.#projection;
    if (projection === undefined) return;
    const ended = projection.apply(input, state, seq);
    if (seq <= this.#from) return;
    const { delivery, metrics } = this.#host;
    metrics.recordInput(input, projection.common());
    for (const item of ended) {
      metrics.recordSpan(item);
      delivery?.add({ span: item.span, seq, source: this });
    }
  }

  /** The usage of calls that a cancel ended is reported after the end of the loop. */
  #checkLoopEnd(state: AgentState): void {
    if (!isLoopRunning(state) && state.unreportedUsage.length === 0) this.#onLoopEnd?.();
  }
}

/** The sequence number of the last opening up to a record; 1 if there is none. */
const openingIn = (past: readonly LoggedInput[], until: number): number =>
  past.findLast(({ seq, input }) => seq <= until && input.type === "session-opened")?.seq ?? 1;
