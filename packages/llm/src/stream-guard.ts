import { guardedFetch } from "./guarded-fetch.ts";
import { silenceTimer } from "./silence-timer.ts";
import type { StreamFault } from "./stream-fault.ts";

export interface StreamLimits {
  readonly signal?: AbortSignal | undefined;
  /** Silence allowed before the first byte of the answer. */
  readonly firstChunkTimeoutMs: number;
  /** Silence allowed between two pieces of it. */
  readonly idleTimeoutMs: number;
  /** Default: the global one. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** What a client has to use for a guarded request. */
export interface Wire {
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal;
}

/** How long, at most, a stream may stay open after its last event: enough to end by itself and leave the connection for reuse. */
const maxDrainMs = 1000;

/**
 * Reads a stream to its end: opens it over a guarded `fetch`, hands each event to `take`, and says what went wrong, or
 * nothing. `take` returns true from the event on with which the answer is whole; whatever happens after it is no fault.
 * Never rejects, and ends at once when the signal fires or a limit of silence is over, also if the transport does not
 * listen. No timer and no listener outlives it.
 */
export async function readStream<Event>(
  limits: StreamLimits,
  open: (wire: Wire) => PromiseLike<AsyncIterable<Event>>,
  onEvent: (event: Event) => boolean,
): Promise<StreamFault | undefined> {
  const guard = new StreamGuard<Event>(limits, onEvent);
  try {
    await guard.read(open);
  } catch (error) {
    guard.recordError(error);
  } finally {
    guard.end();
  }
  return guard.fault();
}

class StreamGuard<Event> {
  readonly #limits: StreamLimits;
  readonly #onEvent: (event: Event) => boolean;
  readonly #controller = new AbortController();
  readonly #silence = silenceTimer((afterMs) => this.#stop({ type: "silent", afterMs }));
  readonly #abort = (): void => {
    this.#fault = undefined;
    this.#stop({ type: "aborted" });
  };
  #fault: StreamFault | undefined;
  #iterator: AsyncIterator<Event> | undefined;
  #interrupt: (() => void) | undefined;
  #sent = false;
  #answered = false;
  #receivedBytes = false;
  #isComplete = false;

  constructor(limits: StreamLimits, onEvent: (event: Event) => boolean) {
    this.#limits = limits;
    this.#onEvent = onEvent;
  }

  async read(open: (wire: Wire) => PromiseLike<AsyncIterable<Event>>): Promise<void> {
    this.#limits.signal?.addEventListener("abort", this.#abort, { once: true });
    if (this.#limits.signal?.aborted) return this.#abort();
    this.#silence.start(this.#limits.firstChunkTimeoutMs);
    const stream = await this.#untilStopped(open({ fetch: this.#fetch(), signal: this.#controller.signal }));
    this.#iterator = stream?.[Symbol.asyncIterator]();
    while (this.#iterator && !this.#controller.signal.aborted) {
      const next = await this.#untilStopped(this.#iterator.next());
      if (next === undefined || next.done === true) break;
      if (!this.#handleEvent(next.value)) break;
    }
  }

  /** Keeps the first cause: an error that follows an abort only repeats it. */
  recordError(error: unknown): void {
    this.#fault ??=
      error instanceof SyntaxError
        ? { type: "unreadable", error }
        : { type: "broken", error, sent: this.#sent, answered: this.#answered };
  }

  end(): void {
    this.#silence.end();
    this.#limits.signal?.removeEventListener("abort", this.#abort);
    this.#controller.abort();
    this.#iterator?.return?.().catch(() => undefined);
  }

  fault(): StreamFault | undefined {
    return this.#isComplete ? undefined : (this.#fault ?? { type: "cut", empty: !this.#receivedBytes });
  }

  #handleEvent(event: Event): boolean {
    try {
      this.#isComplete = this.#onEvent(event) || this.#isComplete;
    } catch (error) {
      this.#fault ??= { type: "unreadable", error };
      return false;
    }
    this.#restartTimer();
    return true;
  }

  #restartTimer(): void {
    this.#receivedBytes = true;
    // Bytes may still trickle in after the end; they must not start a timer again.
    if (this.#controller.signal.aborted) return;
    const { idleTimeoutMs } = this.#limits;
    this.#silence.start(this.#isComplete ? Math.min(maxDrainMs, idleTimeoutMs) : idleTimeoutMs);
  }

  #stop(cause: StreamFault): void {
    this.#fault ??= cause;
    this.#controller.abort();
    this.#interrupt?.();
  }

  /** What a promise gives, or undefined as soon as the guard stops. A race would pile up one reaction for each event. */
  #untilStopped<Value>(promise: PromiseLike<Value>): Promise<Value | undefined> {
    return new Promise((resolve, reject) => {
      this.#interrupt = () => resolve(undefined);
      if (this.#controller.signal.aborted) this.#interrupt();
      promise.then(resolve, reject);
    });
  }

  #fetch(): typeof globalThis.fetch {
    return guardedFetch(this.#limits.fetch ?? globalThis.fetch.bind(globalThis), {
      onSent: () => void (this.#sent = true),
      onStream: () => void (this.#answered = true),
      onBytes: () => this.#restartTimer(),
      onRefused: (fault) => void (this.#fault = this.#fault?.type === "aborted" ? this.#fault : fault),
    });
  }
}
