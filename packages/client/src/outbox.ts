import type { Clock, Receipt } from "@moora/agent";
import { ClientError, closedError } from "./client-error.ts";
import { RetryWait, type RetryDelays } from "./retry-wait.ts";
import { Unreachable, type ServerApi } from "./server-api.ts";

/** A kind of post: the last part of its address. */
export type PostKind = "messages" | "decisions" | "data" | "cancel" | "retry" | "pause" | "resume";

/** A post that the server has not confirmed. `key` is its idempotency key; `content` the text of a message. */
export interface PendingPost {
  readonly key: string;
  readonly kind: PostKind;
  readonly content?: string;
}

/** A post that waits for its turn. */
export interface Post {
  readonly pending: PendingPost;
  /** The body, computed when it is sent for the first time; undefined if there is nothing to send. */
  readonly body: () => unknown;
  /** The post that replaces this one after the server has refused it; undefined to reject with the error. */
  readonly remake?: (error: ClientError) => Promise<Post | undefined>;
}

export interface OutboxHost {
  readonly api: ServerApi;
  readonly clock: Clock;
  /** The address of the session. */
  readonly path: string;
  readonly delays: RetryDelays;
  /** Called when `pending` has changed. */
  readonly onChange: () => void;
}

interface Entry {
  post: Post;
  readonly outcome: PromiseWithResolvers<Receipt>;
}

/**
 * Posts one after the other, in the order in which they were made. A post that does not reach the server waits and is sent
 * again with the same idempotency key, so that the server applies it once.
 */
export class Outbox {
  readonly #host: OutboxHost;
  readonly #wait: RetryWait;
  readonly #end = new AbortController();
  #entries: readonly Entry[] = [];
  #pending: readonly PendingPost[] = [];
  #isSending = false;
  #closed: ClientError | undefined;

  constructor(host: OutboxHost) {
    this.#host = host;
    this.#wait = new RetryWait(host.clock, host.delays);
  }

  /** The posts that the server has not confirmed, oldest first. The same list until it changes. */
  get pending(): readonly PendingPost[] {
    return this.#pending;
  }

  /** Resolves with the receipt. Rejects with `ClientError` for a post that the server refuses. */
  async add(post: Post): Promise<Receipt> {
    if (this.#closed !== undefined) throw this.#closed;
    const outcome = Promise.withResolvers<Receipt>();
    this.#change([...this.#entries, { post, outcome }]);
    if (!this.#isSending) void this.#sendAll();
    return await outcome.promise;
  }

  /** Sends at once what waits for its next attempt. */
  wake(): void {
    this.#wait.wake();
  }

  close(cause?: unknown): void {
    if (this.#closed !== undefined) return;
    const error = closedError(cause);
    this.#closed = error;
    this.#end.abort();
    this.#wait.wake();
    for (const { outcome } of this.#entries) outcome.reject(error);
    this.#change([]);
  }

  #change(entries: readonly Entry[]): void {
    this.#entries = entries;
    this.#pending = entries.map(({ post }) => post.pending);
    this.#host.onChange();
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    for (let [entry] = this.#entries; entry !== undefined; [entry] = this.#entries) {
      const { outcome } = entry;
      await this.#send(entry).then(outcome.resolve, outcome.reject);
      if (this.#closed !== undefined) break;
      this.#change(this.#entries.slice(1));
    }
    this.#isSending = false;
  }

  async #send(entry: Entry): Promise<Receipt> {
    for (;;) {
      const body = entry.post.body();
      if (body === undefined) return { status: "ignored", reason: "nothing-new" };
      try {
        return await this.#deliver(entry.post.pending, body);
      } catch (error) {
        const remade = error instanceof ClientError ? await entry.post.remake?.(error) : undefined;
        if (remade === undefined) throw error;
        entry.post = remade;
      }
    }
  }

  /** Sends a body until the server has answered. */
  async #deliver({ kind, key }: PendingPost, body: unknown): Promise<Receipt> {
    const { api, path } = this.#host;
    for (;;) {
      try {
        const headers = { "idempotency-key": key };
        const receipt = await api.json(`${path}/${kind}`, {
          method: "POST",
          body,
          headers,
          signal: this.#end.signal,
        });
        this.#wait.succeeded();
        // The server of this protocol answers with a receipt.
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion
        return receipt as Receipt;
      } catch (error) {
        if (this.#closed !== undefined) throw this.#closed;
        if (!(error instanceof Unreachable)) throw error;
        await this.#wait.wait(this.#wait.failed(error.retryAfterMs));
      }
    }
  }
}
