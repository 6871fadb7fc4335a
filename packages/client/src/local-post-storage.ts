import { systemClock, type Clock } from "@moora/agent";
import { checkOptions, refuse, type OptionForms } from "@moora/agent-core-effects/internal";
import { ClientError } from "./client-error.ts";
import type { PostStorage, StoredPost } from "./post-store.ts";

/** What a storage of texts needs. `localStorage` of a browser fits. */
export interface TextStore {
  readonly length: number;
  readonly key: (index: number) => string | null;
  readonly getItem: (key: string) => string | null;
  readonly setItem: (key: string, value: string) => void;
  readonly removeItem: (key: string) => void;
}

/** The options of `localPostStorage`. */
export interface LocalPostStorageOptions {
  /** Where the posts are. Default: `localStorage` of the page, from the first use on. */
  readonly store?: TextStore;
  /** How many posts are stored at most, of all sessions. Default: 100. */
  readonly maxPosts?: number;
  /** How many characters they have at most, together. Default: 1,000,000. */
  readonly maxCharacters?: number;
  /** After how many milliseconds a post is removed unsent. Default: 604,800,000, a week. */
  readonly maxAgeMs?: number;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

/** A storage of posts that can be cleared. */
export interface LocalPostStorage extends PostStorage {
  /** Removes the posts of all users and sessions, such as on logout. */
  readonly clear: () => void;
}

const forms: OptionForms<LocalPostStorageOptions> = {
  store: "object",
  maxPosts: "positive",
  maxCharacters: "positive",
  maxAgeMs: "positive",
  clock: "clock",
};

/** The keys of items are `moora-post/TIME-COUNT/SCOPE/KEY`: they sort in the order of the posts. */
const prefix = "moora-post/";

const fullText = "The storage of posts is full: the post is lost if the page is closed before it is sent.";

interface Item {
  readonly name: string;
  readonly postedAt: number;
  readonly scope: string;
  readonly key: string;
}

/**
 * Stores posts in `localStorage`, in clear text: texts of messages, attachments, decisions with their arguments. It writes at once, so that
 * a post outlives a page that closes in the same moment. A post that exceeds a limit or the quota of the browser is not stored: `add`
 * throws `RangeError`, or the error of the browser. Throws `BuildError` for invalid options; its methods throw it where the platform has
 * no `localStorage`.
 */
export function localPostStorage(options: LocalPostStorageOptions = {}): LocalPostStorage {
  checkOptions("localPostStorage", options, forms);
  const { maxPosts = 100, maxCharacters = 1_000_000, maxAgeMs = 604_800_000, clock = systemClock } = options;
  const storeOf = (): TextStore => options.store ?? pageStore(globalThis.localStorage);
  let count = 0;
  const current = (store: TextStore): readonly Item[] => {
    const items = itemsOf(store);
    const oldest = clock.now() - maxAgeMs;
    for (const { name, postedAt } of items) if (postedAt < oldest) store.removeItem(name);
    return items.filter(({ postedAt }) => postedAt >= oldest);
  };
  return {
    list(scope, report = () => undefined) {
      const store = storeOf();
      return current(store)
        .filter((item) => item.scope === scope)
        .flatMap((item) => {
          const text = store.getItem(item.name);
          // Another page has sent it meanwhile.
          if (text === null) return [];
          const read = textToPost(item.key, text);
          if ("post" in read) return [read.post];
          // First: a report that throws does not keep the post.
          store.removeItem(item.name);
          report(read.error);
          return [];
        });
    },
    add(scope, post) {
      const store = storeOf();
      const items = current(store);
      const text = JSON.stringify({ kind: post.kind, body: post.body });
      const used = items.reduce((sum, { name }) => sum + (store.getItem(name)?.length ?? 0), text.length);
      if (items.length >= maxPosts || used > maxCharacters) throw new RangeError(fullText);
      const order = `${String(clock.now()).padStart(15, "0")}-${String(count++).padStart(6, "0")}`;
      store.setItem(`${prefix}${order}/${scope}/${post.key}`, text);
    },
    remove(scope, key) {
      const store = storeOf();
      for (const item of itemsOf(store))
        if (item.scope === scope && item.key === key) store.removeItem(item.name);
    },
    clear() {
      const store = storeOf();
      for (const { name } of itemsOf(store)) store.removeItem(name);
    },
  };
}

/** The store of a page. A server that renders the page has none, and a browser may block it. */
const pageStore = (store: TextStore | undefined): TextStore =>
  store ?? refuse("localPostStorage needs localStorage, which this platform does not have. Pass store.");

/** The items of posts, oldest first. */
function itemsOf(store: TextStore): readonly Item[] {
  const names = Array.from({ length: store.length }, (_, index) => store.key(index) ?? "");
  return names
    .filter((name) => name.startsWith(prefix))
    .toSorted()
    .map((name) => {
      const [order = "", scope = "", key = ""] = name.slice(prefix.length).split("/");
      return { name, postedAt: Number.parseInt(order, 10), scope, key };
    });
}

/** The post of a text, or why it is not one: another program has changed it. */
function textToPost(
  key: string,
  text: string,
): { readonly post: StoredPost } | { readonly error: ClientError } {
  try {
    const { kind, body }: { readonly kind: unknown; readonly body: unknown } = JSON.parse(text);
    const isPost = kind === "messages" || kind === "decisions";
    if (isPost && typeof body === "object" && body !== null) return { post: { key, kind, body } };
    return { error: damagedError(key) };
  } catch (cause) {
    return { error: damagedError(key, cause) };
  }
}

const damagedError = (key: string, cause?: unknown): ClientError =>
  new ClientError(
    "PostDamaged",
    `The stored post "${key}" is damaged. It was removed, and is not sent: ask the user to post again.`,
    cause === undefined ? {} : { cause },
  );
