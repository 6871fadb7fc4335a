import { guardedFetch } from "./guarded-fetch.ts";
import { StreamFaultError, type StreamFault } from "./stream-fault.ts";

/** The limits of one stream. */
export interface StreamLimits {
  /** Aborts the stream. */
  readonly signal?: AbortSignal | undefined;
  /** How long to wait for the first byte of the answer, in milliseconds. */
  readonly firstChunkTimeoutMs: number;
  /** How long to wait between two chunks of the answer, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** How long to wait between two events that are more than a sign of life, in milliseconds. */
  readonly contentTimeoutMs: number;
  /** How long the whole answer may take, in milliseconds. */
  readonly callTimeoutMs: number;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** What reads the events of a stream. */
export interface EventReader<Event> {
  /** Adds an event. Returns true for the event that completes the answer, and for all events after it. */
  add(event: Event): boolean;
  /** Whether an event says only that the connection is alive. Default: no event does. */
  isSignOfLife?(event: Event): boolean;
}

/** The transport of a guarded request. A client must use both. */
export interface Wire {
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal;
}

/** How long a stream may stay open after its last event: enough for the server to end it, so that the connection is reused. */
const maxDrainMs = 1000;

/**
 * Opens a stream with a guarded `fetch` and passes every event to the reader. Resolves to the fault of the stream, or to
 * undefined for a complete one. Errors after the event that completes the answer are ignored.
 * Never rejects. Resolves immediately when the signal is aborted or a limit of silence is exceeded, even if the transport
 * ignores its signal. Leaves no timer and no listener behind.
 */
export async function readStream<Event>(
  limits: StreamLimits,
  open: (wire: Wire) => PromiseLike<AsyncIterable<Event>>,
  reader: EventReader<Event>,
): Promise<StreamFault | undefined> {
  const guard = new StreamGuard<Event>(limits, reader);
  try {
    await guard.read(open);
  } catch (error) {
    guard.recordError(error);
  } finally {
    guard.end();
  }
  return guard.fault();
}

/** How far a stream is, in this order. `receiving`: bytes of the answer arrived. `complete`: its last event arrived. */
const phases = ["unsent", "sent", "answered", "receiving", "complete"] as const;
type Phase = (typeof phases)[number];

class StreamGuard<Event> {
  readonly #limits: StreamLimits;
  readonly #reader: EventReader<Event>;
  readonly #controller = new AbortController();
  readonly #silence = silenceTimer((afterMs) => this.#stop({ type: "silent", afterMs }));
  readonly #withoutContent = silenceTimer((afterMs) => this.#stop({ type: "without-content", afterMs }));
  readonly #whole = silenceTimer((afterMs) => this.#stop({ type: "too-long", afterMs }));
  readonly #abort = (): void => {
    this.#fault = undefined;
    this.#stop({ type: "aborted" });
  };
  #fault: StreamFault | undefined;
  #iterator: AsyncIterator<Event> | undefined;
  #interrupt: (() => void) | undefined;
  #phase: Phase = "unsent";

  constructor(limits: StreamLimits, reader: EventReader<Event>) {
    this.#limits = limits;
    this.#reader = reader;
  }

  async read(open: (wire: Wire) => PromiseLike<AsyncIterable<Event>>): Promise<void> {
    this.#limits.signal?.addEventListener("abort", this.#abort, { once: true });
    if (this.#limits.signal?.aborted) return this.#abort();
    this.#whole.start(this.#limits.callTimeoutMs);
    this.#startWaiting();
    const stream = await this.#untilStopped(open({ fetch: this.#fetch(), signal: this.#controller.signal }));
    this.#iterator = stream?.[Symbol.asyncIterator]();
    while (this.#iterator && !this.#controller.signal.aborted) {
      const next = await this.#untilStopped(this.#iterator.next());
      if (next === undefined || next.done === true) break;
      if (!this.#handleEvent(next.value)) break;
    }
  }

  /** Keeps the first fault: an error after an abort results from the abort. */
  recordError(error: unknown): void {
    this.#fault ??= this.#faultOf(error);
  }

  #faultOf(error: unknown): StreamFault {
    if (error instanceof StreamFaultError) return error.fault;
    if (error instanceof SyntaxError) return { type: "unreadable", error };
    return {
      type: "broken",
      error,
      sent: this.#hasReached("sent"),
      answered: this.#hasReached("answered"),
    };
  }

  end(): void {
    for (const timer of [this.#silence, this.#withoutContent, this.#whole]) timer.end();
    this.#limits.signal?.removeEventListener("abort", this.#abort);
    this.#controller.abort();
    this.#iterator?.return?.().catch(() => undefined);
  }

  fault(): StreamFault | undefined {
    if (this.#phase === "complete") return undefined;
    return this.#fault ?? { type: "cut", empty: !this.#hasReached("receiving") };
  }

  #hasReached(phase: Phase): boolean {
    return phases.indexOf(this.#phase) >= phases.indexOf(phase);
  }

  /** A client that sends its request again does not make the stream begin anew. */
  #advanceTo(phase: Phase): void {
    if (!this.#hasReached(phase)) this.#phase = phase;
  }

  #handleEvent(event: Event): boolean {
    try {
      if (this.#reader.add(event)) this.#advanceTo("complete");
    } catch (error) {
      this.#fault ??= error instanceof StreamFaultError ? error.fault : { type: "unreadable", error };
      return false;
    }
    if (this.#reader.isSignOfLife?.(event) !== true)
      this.#withoutContent.start(this.#limits.contentTimeoutMs);
    this.#restartTimer();
    return true;
  }

  /** The time in which a client was loaded is not a silence of the provider. */
  #startWaiting(): void {
    this.#silence.start(this.#limits.firstChunkTimeoutMs);
    this.#withoutContent.start(this.#limits.contentTimeoutMs);
  }

  #restartTimer(): void {
    this.#advanceTo("receiving");
    // Bytes that arrive after the end must not start the timer again.
    if (this.#controller.signal.aborted) return;
    const { idleTimeoutMs } = this.#limits;
    this.#silence.start(this.#phase === "complete" ? Math.min(maxDrainMs, idleTimeoutMs) : idleTimeoutMs);
  }

  #stop(cause: StreamFault): void {
    this.#fault ??= cause;
    this.#controller.abort();
    this.#interrupt?.();
  }

  /** The value of a promise, or undefined as soon as the guard stops. `Promise.race` would add a reaction for every event. */
  #untilStopped<Value>(promise: PromiseLike<Value>): Promise<Value | undefined> {
    return new Promise((resolve, reject) => {
      this.#interrupt = () => resolve(undefined);
      if (this.#controller.signal.aborted) this.#interrupt();
      promise.then(resolve, reject);
    });
  }

  #fetch(): typeof globalThis.fetch {
    return guardedFetch(this.#limits.fetch ?? globalThis.fetch.bind(globalThis), {
      onSent: () => {
        this.#advanceTo("sent");
        this.#startWaiting();
      },
      onStream: () => this.#advanceTo("answered"),
      onBytes: () => this.#restartTimer(),
      onRefused: (fault) => void (this.#fault = this.#fault?.type === "aborted" ? this.#fault : fault),
    });
  }
}

/** The maximum delay of a timer. */
const maxMs = 2 ** 31 - 1;

/** A timer that is restarted by every sign of activity. */
interface SilenceTimer {
  /** Starts the timer again. A limit above the maximum delay of a timer, such as Infinity, disables it. */
  start(limitMs: number): void;
  /** Stops the timer. */
  end(): void;
}

/** Creates a timer that calls `onSilence` with the limit that was exceeded. */
function silenceTimer(onSilence: (limitMs: number) => void): SilenceTimer {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = (): void => clearTimeout(timer);
  return {
    start(limitMs) {
      end();
      if (limitMs >= 0 && limitMs <= maxMs) timer = setTimeout(() => onSilence(limitMs), limitMs);
    },
    end,
  };
}
