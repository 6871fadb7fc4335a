import { unref } from "../unreferenced-interval.ts";

/** Reports changes of sessions to the other logs of this origin with the same database: those of other tabs and workers too. */
export class Channel {
  readonly #name: string;
  readonly #onChange = new Set<(generation: string) => void>();
  #channel: BroadcastChannel | undefined;
  #isClosed = false;

  constructor(database: string) {
    this.#name = `moora/${database}`;
  }

  /** Reports that a session has changed. */
  post(generation: number): void {
    this.#open()?.postMessage(generation);
  }

  /** Calls the listener for each change that another log reports; returns a function that removes it. */
  listen(onChange: (generation: string) => void): () => void {
    this.#onChange.add(onChange);
    this.#open();
    return () => void this.#onChange.delete(onChange);
  }

  close(): void {
    this.#isClosed = true;
    this.#onChange.clear();
    this.#channel?.close();
    this.#channel = undefined;
  }

  #open(): BroadcastChannel | undefined {
    if (this.#channel !== undefined || this.#isClosed) return this.#channel;
    const channel = new BroadcastChannel(this.#name);
    unref(channel);
    channel.addEventListener("message", (event) => {
      for (const onChange of this.#onChange) onChange(String(Reflect.get(event, "data")));
    });
    this.#channel = channel;
    return channel;
  }
}
