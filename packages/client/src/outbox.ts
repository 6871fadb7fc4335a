import type { Clock, Receipt } from "@moora/agent";
import { ClientError, closedError } from "./client-error.ts";
import type { PostStore } from "./post-store.ts";
import { RetryWait, type RetryDelays } from "./retry-wait.ts";
import { Unreachable, type ServerApi } from "./server-api.ts";
import type { PostKind, PendingPost, Post } from "./post.ts";

/** An idempotency key. */
export const newKey = (): string => crypto.randomUUID();

/** Posts that are about the running work, and not about the data: they do not wait for a change of data that is made again. */
const urgentKinds: ReadonlySet<PostKind> = new Set(["cancel", "pause", "resume", "decisions"]);

export interface OutboxHost {
  readonly api: ServerApi;
  readonly clock: Clock;
  /** The address of the session. */
  readonly path: string;
  /** The query of each post, which identifies the session. */
  readonly query: () => string;
  readonly delays: RetryDelays;
  /** The last record that the session contains. */
  readonly seq: () => number;
  readonly store: PostStore;
  /** Called when `pending` has changed. */
  readonly onChange: () => void;
}

interface Entry {
  post: Post;
  readonly outcome: PromiseWithResolvers<Receipt>;
  /** The record of the receipt; undefined before. */
  seq: number | undefined;
  /** Whether the session contains the record, which may arrive before the receipt. */
  isFolded: boolean;
}

/**
 * Posts one after the other, in the order in which they were made. A post that does not reach the server waits and is sent
 * again with the same idempotency key, so that the server applies it once.
 */
export class Outbox {
  readonly #host: OutboxHost;
  readonly #wait: RetryWait;
  readonly #end = new AbortController();
  /** The posts that wait for their receipts. */
  #entries: readonly Entry[] = [];
  /** The posts that wait for their records. */
  #confirmed: readonly Entry[] = [];
  #pending: readonly PendingPost[] = [];
  #isSending = false;
  #closed: ClientError | undefined;

  constructor(host: OutboxHost) {
    this.#host = host;
    this.#wait = new RetryWait(host.clock, host.delays);
  }

  /** The posts whose records the session does not contain, oldest first. The same list until it changes. */
  get pending(): readonly PendingPost[] {
    return this.#pending;
  }

  /** Resolves with the receipt. Rejects with `ClientError` for a post that the server refuses. */
  async add(post: Post): Promise<Receipt> {
    if (this.#closed !== undefined) throw this.#closed;
    this.#host.store.add(post);
    return await this.enqueue(post);
  }

  /** The same for a post that is stored already. `isFolded`: the session contains its record. */
  async enqueue(post: Post, isFolded = false): Promise<Receipt> {
    if (this.#closed !== undefined) throw this.#closed;
    const outcome = Promise.withResolvers<Receipt>();
    this.#change([...this.#entries, { post, outcome, seq: undefined, isFolded }]);
    if (!this.#isSending) void this.#sendAll();
    return await outcome.promise;
  }

  /** Removes what the session contains now. `messageId` is the message of the newest record. Returns whether something changed. */
  folded(messageId: string | undefined): boolean {
    const last = this.#host.seq();
    const own = this.#entries.find(
      ({ post }) => post.messageId !== undefined && post.messageId === messageId,
    );
    if (own !== undefined) own.isFolded = true;
    const left = this.#confirmed.filter(({ seq = 0 }) => seq > last);
    if (own === undefined && left.length === this.#confirmed.length) return false;
    this.#confirmed = left;
    this.#list();
    return true;
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
    this.#confirmed = [];
    this.#change([]);
  }

  #change(entries: readonly Entry[]): void {
    this.#entries = entries;
    this.#list();
    this.#host.onChange();
  }

  #list(): void {
    this.#pending = [...this.#confirmed, ...this.#entries]
      .filter(({ isFolded }) => !isFolded)
      .map(({ post: { key, kind, content }, seq }) => ({
        key,
        kind,
        ...(content === undefined ? {} : { content }),
        isConfirmed: seq !== undefined,
      }));
  }

  /** Moves a post whose receipt has arrived to those that wait for their records. */
  #confirm(entry: Entry, receipt: Receipt): void {
    if (receipt.status === "ignored" || entry.post.isForSubAgent === true || entry.isFolded) return;
    entry.seq = receipt.seq;
    if (receipt.seq > this.#host.seq()) this.#confirmed = [...this.#confirmed, entry];
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    for (let [entry] = this.#entries; entry !== undefined; [entry] = this.#entries) await this.#settle(entry);
    this.#isSending = false;
  }

  /** Sends a post, and removes it when it has its outcome. */
  async #settle(entry: Entry): Promise<void> {
    const { outcome } = entry;
    try {
      const receipt = await this.#send(entry);
      this.#confirm(entry, receipt);
      outcome.resolve(receipt);
    } catch (error) {
      outcome.reject(error);
    }
    if (this.#closed !== undefined) return;
    this.#host.store.remove(entry.post);
    this.#change(this.#entries.filter((other) => other !== entry));
  }

  /** Sends the urgent posts right behind the first one, which has to be made again. */
  async #sendUrgent(): Promise<void> {
    for (let [, next] = this.#entries; next !== undefined; [, next] = this.#entries) {
      if (!urgentKinds.has(next.post.kind)) return;
      await this.#settle(next);
    }
  }

  async #send(entry: Entry): Promise<Receipt> {
    for (;;) {
      const body = entry.post.body();
      if (body === undefined) return { status: "ignored", reason: "nothing-new" };
      try {
        return await this.#deliver(entry.post, body);
      } catch (error) {
        const remade = error instanceof ClientError ? await entry.post.remake?.(error) : undefined;
        if (remade === undefined) throw error;
        entry.post = remade;
        await this.#sendUrgent();
        if (this.#closed !== undefined) throw this.#closed;
      }
    }
  }

  /** Sends a body until the server has answered. */
  async #deliver({ kind, key }: Post, body: unknown): Promise<Receipt> {
    const { api, path, query } = this.#host;
    for (;;) {
      try {
        const headers = { "idempotency-key": key };
        const receipt = await api.json(`${path}/${kind}${query()}`, {
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
