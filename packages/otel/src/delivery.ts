import type { Clock } from "@moora/agent";
import type { SessionSpan } from "./session-span.ts";
import type { Sink } from "./sink.ts";

/** A session whose spans are delivered. */
export interface DeliverySource {
  /** Called when every span that ended at a record up to `seq` has been exported. */
  delivered(seq: number): void;
}

interface Item {
  readonly span: SessionSpan;
  readonly seq: number;
  readonly source: DeliverySource;
}

/** The options of a delivery. Times are in milliseconds. */
export interface DeliveryOptions {
  readonly sink: Sink;
  readonly clock: Clock;
  /** The most spans that wait. */
  readonly maxQueueSize: number;
  readonly exportTimeoutMs: number;
  /** Receives the first error after a success. */
  readonly onError: (error: unknown) => void;
}

const maxBatchSize = 512;
/** How often a batch is sent before it is dropped. */
const maxAttempts = 3;
const retryDelayMs = 5_000;

/**
 * Sends spans in the background, one batch at a time. Adding a span never waits and never throws. The queue is bounded: spans
 * that do not fit, and batches that fail again and again, are dropped.
 */
export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #lost = new WeakSet<DeliverySource>();
  #queue: Item[] = [];
  /** The batch that is being sent now; undefined while none is. */
  #sending: Promise<void> | undefined;
  #attempts = 0;
  #cancelRetry: (() => void) | undefined;
  #isFailing = false;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** Whether a producer that can wait should flush before it adds more spans. Waiting does not help while the exporter fails. */
  get isCrowded(): boolean {
    return this.#queue.length >= this.#options.maxQueueSize / 2 && !this.#isFailing;
  }

  add(item: Item): void {
    if (this.#queue.length >= this.#options.maxQueueSize) {
      this.#lost.add(item.source);
      const { maxQueueSize } = this.#options;
      return this.#failed(new Error(`Spans are dropped: ${maxQueueSize} spans wait for the exporter.`));
    }
    this.#queue.push(item);
    if (this.#cancelRetry === undefined) this.#start();
  }

  /** Sends everything that waits now. Resolves also if that fails. */
  async flush(): Promise<void> {
    const last = this.#queue.at(-1);
    if (this.#sending === undefined) this.#start();
    while (this.#isSending(last)) await this.#sending;
    // The exporter fails: one attempt is enough, `flush` does not wait for retries.
    if (this.#cancelRetry !== undefined) return;
    await this.#limited(() => this.#options.sink.flush()).catch((error: unknown) => this.#failed(error));
  }

  /** Whether a batch is being sent, and this item still waits. */
  #isSending(item: Item | undefined): boolean {
    return this.#sending !== undefined && item !== undefined && this.#queue.includes(item);
  }

  #start(): void {
    if (this.#sending !== undefined || this.#queue.length === 0) return;
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    this.#sending = this.#send();
  }

  /** Sends a batch. Never rejects. */
  async #send(): Promise<void> {
    // Inputs that arrive together end their spans in the same batch.
    await Promise.resolve();
    const batch = this.#queue.slice(0, maxBatchSize);
    try {
      await this.#limited(() => this.#options.sink.send(batch.map(({ span }) => span)));
      this.#isFailing = false;
      this.#remove(batch);
    } catch (error) {
      this.#failed(error);
      this.#attempts += 1;
      if (this.#attempts >= maxAttempts) {
        for (const { source } of batch) this.#lost.add(source);
        this.#remove(batch);
      }
    }
    this.#sending = undefined;
    this.#next();
  }

  /** Continues with the next batch, after a failure with a delay. */
  #next(): void {
    if (this.#queue.length === 0) return;
    if (!this.#isFailing) return this.#start();
    const retry = (): void => {
      this.#cancelRetry = undefined;
      this.#start();
    };
    this.#cancelRetry = this.#options.clock.after(retryDelayMs, retry, { keepsAlive: false });
  }

  #remove(batch: readonly Item[]): void {
    this.#attempts = 0;
    this.#queue = this.#queue.slice(batch.length);
    const next = new Map<DeliverySource, number>();
    for (const { source, seq } of this.#queue) if (!next.has(source)) next.set(source, seq);
    for (const [source, seq] of new Map(batch.map((item) => [item.source, item.seq]))) {
      if (this.#lost.has(source)) continue;
      const waiting = next.get(source);
      source.delivered(waiting === undefined ? seq : Math.min(seq, waiting - 1));
    }
  }

  #failed(error: unknown): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#options.onError(error);
  }

  /** Runs a call of the exporter, which fails if it throws or takes too long. */
  async #limited(call: () => Promise<void>): Promise<void> {
    const { clock, exportTimeoutMs } = this.#options;
    const { promise: late, reject } = Promise.withResolvers<never>();
    const cancel = clock.after(
      exportTimeoutMs,
      () => reject(new Error(`The exporter did not answer within ${exportTimeoutMs} ms.`)),
      { keepsAlive: false },
    );
    try {
      await Promise.race([call(), late]);
    } finally {
      cancel();
    }
  }
}
