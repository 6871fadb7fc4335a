import type { DispatchBatch, DispatchedInput } from "@moora/agent-core-effects";
import { inputTraits } from "@moora/agent-core-state-machine";

/**
 * The signal of the work of one effect: that of its host, up to the result. When the result applies, the state no longer wants
 * the effect, and hosts abort what it no longer wants. An abort of work that has succeeded would make it undo itself.
 */
export class WorkSignal {
  readonly #host: AbortSignal | undefined;
  readonly #controller = new AbortController();
  /** An abort is kept back while a result is dispatched: whether it applies is not known yet. */
  #isReporting = false;
  readonly #onAbort = (): void => {
    if (!this.#isReporting) this.#controller.abort(this.#host?.reason);
  };

  constructor(host: AbortSignal | undefined) {
    this.#host = host;
    if (host?.aborted === true) this.#onAbort();
    host?.addEventListener("abort", this.#onAbort);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** A dispatch after whose applied results nothing aborts. */
  guard(dispatch: DispatchBatch): DispatchBatch {
    return async (...inputs) => {
      if (inputs.every(isIntent)) return await dispatch(...inputs);
      this.#isReporting = true;
      let hasApplied = false;
      try {
        hasApplied = await dispatch(...inputs);
      } finally {
        if (hasApplied) this.close();
        else this.#continue();
      }
      return hasApplied;
    };
  }

  /** Aborts nothing anymore. */
  close(): void {
    this.#host?.removeEventListener("abort", this.#onAbort);
  }

  #continue(): void {
    this.#isReporting = false;
    if (this.#host?.aborted === true) this.#onAbort();
  }
}

/** A program dispatches its intent, and then nothing but results. Those that are computed for the newest state are results. */
const isIntent = (input: DispatchedInput): boolean =>
  typeof input !== "function" && inputTraits[input.type].role === "intent";
