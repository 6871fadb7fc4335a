import type { ErrorListener } from "@moora/agent";
import { digestOf } from "@moora/event-log";
import type { Post, PostKind } from "./post.ts";

/** A post in a storage. JSON: it contains what the user wrote. `key` is its idempotency key. */
export interface StoredPost {
  readonly key: string;
  readonly kind: "messages" | "decisions";
  readonly body: unknown;
}

/**
 * Stores posts that the server has not confirmed, so that they outlive the page. A scope is one user in one session of one server, as a
 * digest. Several pages may use one storage at the same time.
 */
export interface PostStorage {
  /** The posts of a scope, oldest first. `report` takes an error for each one that cannot be read, such as of a damaged text. */
  readonly list: (
    scope: string,
    report?: (error: unknown) => void,
  ) => readonly StoredPost[] | Promise<readonly StoredPost[]>;
  /** Adds a post. It is sent without delay: a storage that writes later may lose the posts of the last moment. */
  readonly add: (scope: string, post: StoredPost) => void | Promise<void>;
  /** Removes a post, which may be missing. */
  readonly remove: (scope: string, key: string) => void | Promise<void>;
}

interface PostStoreHost {
  readonly storage: PostStorage | undefined;
  readonly scope: string;
  readonly report: ErrorListener;
}

/** The scope of a session: the posts of another user, server or history are never sent to it. */
export const scopeOf = (
  url: string,
  { id, user, incarnation }: { readonly id: string; readonly user: string; readonly incarnation: string },
): string => digestOf("posts", url, user.toWellFormed(), id, incarnation);

/** What a storage has for a session; `errors` are why it, or some of its posts, could not be read. */
export interface StoredPosts {
  readonly posts: readonly StoredPost[];
  readonly errors: readonly unknown[];
}

/** Reads the posts of a scope. Never rejects. */
export async function readStoredPosts(storage: PostStorage | undefined, scope: string): Promise<StoredPosts> {
  const errors: unknown[] = [];
  try {
    const posts = await storage?.list(scope, (error) => void errors.push(error));
    return { posts: posts ?? [], errors };
  } catch (error) {
    return { posts: [], errors: [...errors, error] };
  }
}

/** The stored posts of one session. A storage that fails is reported, and does not stop the posts. */
export class PostStore {
  readonly #host: PostStoreHost;
  /** Changes of the storage are made one after the other. */
  #last: Promise<unknown> | undefined;

  constructor(host: PostStoreHost) {
    this.#host = host;
  }

  /** Stores a post that a later page may send. */
  add({ key, kind, body }: Post): void {
    if (!isStored(kind)) return;
    this.#change((storage, scope) => storage.add(scope, { key, kind, body: body() }));
  }

  /** Removes a post that the server has answered. */
  remove({ key, kind }: Post): void {
    if (isStored(kind)) this.#change((storage, scope) => storage.remove(scope, key));
  }

  #change(change: (storage: PostStorage, scope: string) => void | Promise<void>): void {
    const { storage, scope, report } = this.#host;
    if (storage === undefined) return;
    const failed = (error: unknown): void => report({ source: "log", error });
    const run = (): void | Promise<void> => change(storage, scope);
    try {
      // The first change runs at once: a page may close at any time.
      const running = this.#last === undefined ? run() : this.#last.then(run);
      if (running === undefined) return;
      const done = running.catch(failed).then(() => {
        if (this.#last === done) this.#last = undefined;
      });
      this.#last = done;
    } catch (error) {
      failed(error);
    }
  }
}

/** Whether a later page may send posts of this kind. The others concern the moment in which they were made. */
const isStored = (kind: PostKind): kind is StoredPost["kind"] => kind === "messages" || kind === "decisions";
