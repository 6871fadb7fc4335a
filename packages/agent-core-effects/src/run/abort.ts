import type { EffectHost } from "./host.ts";

type AbortableHost = Pick<EffectHost, "signal" | "isAborted" | "onAbort">;

/** Whether the work of an effect has been aborted. Does not create the signal of a host that creates it when it is read. */
export const isAborted = (host: AbortableHost): boolean => host.isAborted?.() ?? host.signal.aborted;

/** Calls back when the work of an effect is aborted, at once if it is already. Returns a function that unsubscribes. */
export function onAbort(host: AbortableHost, callback: () => void): () => void {
  if (isAborted(host)) {
    callback();
    return () => undefined;
  }
  if (host.onAbort !== undefined) return host.onAbort(callback);
  const { signal } = host;
  signal.addEventListener("abort", callback, { once: true });
  return () => signal.removeEventListener("abort", callback);
}

/**
 * An abort of its own kind, such as a timeout, whose signal is created when it is read. The time of the timeout does not
 * pass while it is held.
 */
export class LazyAbort {
  #reason: DOMException | undefined;
  #controller: AbortController | undefined;
  #holds = 0;
  #onHold: ((isHeld: boolean) => void) | undefined;

  get isHeld(): boolean {
    return this.#holds > 0;
  }

  /** Stops the time until the returned function is called. */
  hold(): () => void {
    let isReleased = false;
    this.#change(1);
    return () => {
      if (!isReleased) this.#change(-1);
      isReleased = true;
    };
  }

  /** Calls the listener when the time stops and when it continues. */
  onHold(listener: (isHeld: boolean) => void): void {
    this.#onHold = listener;
  }

  #change(by: 1 | -1): void {
    const { isHeld } = this;
    this.#holds += by;
    if (isHeld !== this.isHeld) this.#onHold?.(this.isHeld);
  }

  get isAborted(): boolean {
    return this.#reason !== undefined;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  abort(reason: DOMException): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
