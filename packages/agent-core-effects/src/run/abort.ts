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

/** An abort of its own kind, such as a time-out, whose signal is created when it is read. */
export class LazyAbort {
  #reason: DOMException | undefined;
  #controller: AbortController | undefined;

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
