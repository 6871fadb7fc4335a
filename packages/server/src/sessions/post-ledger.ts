import type { DurableSession, Receipt } from "@moora/agent";
import type { BlobStore } from "@moora/event-log";
import { keyReused, unavailable } from "../problem.ts";
import type { LiveSession } from "./live-session.ts";
import { isSameContent, recordedPostOf, type RecordedPost, type RequestId } from "./request-ids.ts";

/** Makes a post on a session. At the moment at which it is applied it must not do so if `isRecorded` returns true. */
export type MakePost = (session: DurableSession<unknown>, isRecorded: () => boolean) => Promise<Receipt>;

/** Whether the log of a session may contain a post. Returning false saves reading the log. */
export type MayExist = (session: DurableSession<unknown>) => boolean;

/** The first post of each key in the log of a session, with its record. */
type RecordedPosts = ReadonlyMap<string, RecordedPost & { readonly seq: number }>;

interface RecentPost {
  readonly content: string;
  readonly receipt: Promise<Receipt>;
}

/** The number of ignored posts that are remembered for each session. */
const maxIgnored = 1_000;

/**
 * The posts of one session, so that a repeated one gets the receipt of the first and is applied once. What the log contains is
 * read from the session that makes the post, and follows it: an append succeeds only after the records that this session has
 * seen, so that a post that another process has recorded first is known before it is applied again.
 */
export class PostLedger {
  readonly #live: LiveSession;
  readonly #blobs: BlobStore | undefined;
  readonly #underWay = new Map<string, RecentPost>();
  /** Ignored posts leave no record. */
  readonly #ignored = new Map<string, RecentPost>();
  /** By session: the one that replaces another one reads its log itself. */
  readonly #posts = new WeakMap<DurableSession<unknown>, Promise<RecordedPosts>>();

  /** `blobs` has the files of messages. */
  constructor(live: LiveSession, blobs: BlobStore | undefined) {
    this.#live = live;
    this.#blobs = blobs;
  }

  /** Makes a post unless it was made before. Throws `idempotency-key-reused` for the key of another post. */
  async once(id: RequestId, make: MakePost, mayExist: MayExist = () => true): Promise<Receipt> {
    const recent = this.#underWay.get(id.key) ?? this.#ignored.get(id.key);
    if (recent !== undefined) {
      checkContent(id, recent.content);
      return await recent.receipt;
    }
    const receipt = this.#live.post(async (session, isRepeated) => {
      const isNew = !isRepeated && (!id.isRepeatable || !mayExist(session));
      return await this.#postTo(session, id, make, isNew);
    });
    const post = { content: id.content, receipt };
    this.#underWay.set(id.key, post);
    try {
      if ((await receipt).status === "ignored") this.#rememberIgnored(id.key, post);
      return await receipt;
    } finally {
      // A post that failed may be repeated.
      this.#underWay.delete(id.key);
    }
  }

  #rememberIgnored(key: string, post: RecentPost): void {
    this.#ignored.set(key, post);
    const [oldest] = this.#ignored.keys();
    if (this.#ignored.size > maxIgnored && oldest !== undefined) this.#ignored.delete(oldest);
  }

  /** Makes a post on a session. `isNew`: its log certainly does not contain it yet. */
  async #postTo(
    session: DurableSession<unknown>,
    id: RequestId,
    make: MakePost,
    isNew: boolean,
  ): Promise<Receipt> {
    const known = isNew ? undefined : await this.#postsOf(session);
    const before = known && (await this.#receiptIn(known, id));
    if (before !== undefined) return before;
    const seq = session.seq();
    const first = await settled(make(session, () => known?.has(id.key) === true));
    if ("receipt" in first && first.receipt.status === "accepted") return first.receipt;
    // Another process may have recorded it, or what it is about, and this session may not have seen that yet.
    const posts = known ?? (await this.#postsOf(session));
    await session.refresh();
    const isSame = (await this.#receiptIn(posts, id)) !== undefined || session.seq() === seq;
    const last = isSame ? first : await settled(make(session, () => posts.has(id.key)));
    if ("receipt" in last && last.receipt.status === "accepted") return last.receipt;
    const found = await this.#receiptIn(posts, id);
    if (found !== undefined) return found;
    if ("error" in last) throw last.error;
    // A session that has ended does not read what others have recorded.
    if (!this.#live.isCurrent(session)) throw unavailable("The session is changing its owner. Retry.");
    return last.receipt;
  }

  /** The receipt of a post that is recorded; undefined if it is not. Throws `idempotency-key-reused`. */
  async #receiptIn(posts: RecordedPosts, id: RequestId): Promise<Receipt | undefined> {
    const found = posts.get(id.key);
    if (found === undefined) return undefined;
    if (!(await isSameContent(found, id.content, this.#blobs))) throw keyReused();
    return { status: "accepted", seq: found.seq };
  }

  /** The posts in the log of a session: those of the log as it is now, and from then on those of its new records. */
  #postsOf(session: DurableSession<unknown>): Promise<RecordedPosts> {
    const known = this.#posts.get(session);
    if (known !== undefined) return known;
    const reading = readPosts(session);
    this.#posts.set(session, reading);
    reading.catch(() => this.#posts.delete(session));
    return reading;
  }
}

async function readPosts(session: DurableSession<unknown>): Promise<RecordedPosts> {
  const posts = new Map<string, RecordedPost & { readonly seq: number }>();
  await session.follow(0, (seq, input) => {
    const post = recordedPostOf(input);
    if (post !== undefined && !posts.has(post.key)) posts.set(post.key, { ...post, seq });
  });
  return posts;
}

const settled = (
  receipt: Promise<Receipt>,
): Promise<{ readonly receipt: Receipt } | { readonly error: unknown }> =>
  receipt.then(
    (value) => ({ receipt: value }),
    (error: unknown) => ({ error }),
  );

function checkContent(id: RequestId, content: string): void {
  if (id.content !== content) throw keyReused();
}
