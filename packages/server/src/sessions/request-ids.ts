import { canonicalJson, type AgentInput, type Receipt } from "@moora/agent";
import { blobUrl, digestOf } from "@moora/event-log";
import { HttpProblem } from "../problem.ts";
import type { LiveSession } from "./live-session.ts";

/** A post of a user: its kind, its idempotency key, and what it asks for. */
export interface PostRequest {
  readonly kind: "messages" | "decisions" | "cancel" | "data";
  readonly user: string;
  /** Undefined for a post without one: it is never a repetition. */
  readonly key: string | undefined;
  readonly content: unknown;
}

/** The id under which the log records a post. */
export interface RequestId {
  /** Whether the post has an idempotency key. */
  readonly isRepeatable: boolean;
  /** Equal for posts of the same kind, user and key. */
  readonly key: string;
  /** Differs for posts of the same key with another content. */
  readonly content: string;
  /** The id of the message that the post adds. */
  readonly messageId: string;
  /** The text that other inputs contain. */
  readonly text: string;
}

/** The id of a post. */
export function requestIdOf({ kind, user, key, content }: PostRequest): RequestId {
  const given = (key ?? crypto.randomUUID()).toWellFormed();
  const keyDigest = digestOf(kind, user.toWellFormed(), given);
  const contentDigest = contentDigestOf(content);
  return {
    isRepeatable: key !== undefined,
    key: keyDigest,
    content: contentDigest,
    messageId: `post_${keyDigest}`,
    text: `${keyDigest}.${contentDigest}`,
  };
}

/** A content in which the data of files has the URL by which it is stored: the log may have the one or the other. */
function withStoredUrls(content: unknown): unknown {
  if (typeof content !== "object" || content === null || !("attachments" in content)) return content;
  const { attachments } = content;
  return Array.isArray(attachments) ? { ...content, attachments: attachments.map(withStoredUrl) } : content;
}

const withStoredUrl = (file: unknown): unknown =>
  typeof file === "object" && file !== null && "url" in file && typeof file.url === "string"
    ? { ...file, url: storedUrl(file.url) }
    : file;

function storedUrl(url: string): string {
  const data = /^data:[^,]*;base64,(.*)$/is.exec(url)?.[1];
  if (data === undefined) return url;
  try {
    return blobUrl(Uint8Array.from(atob(data), (character) => character.charCodeAt(0)));
  } catch {
    return url;
  }
}

const contentDigestOf = (content: unknown): string =>
  digestOf(canonicalJson(withStoredUrls(content)).toWellFormed());

/** A post that the log contains. */
interface RecordedPost {
  readonly key: string;
  readonly content: string;
}

/** The post that an input records; undefined if it records none. */
function postOf(input: AgentInput): RecordedPost | undefined {
  if (input.type === "user-message-received") {
    if (!input.messageId.startsWith("post_")) return undefined;
    const { content, attachments } = input;
    return {
      key: input.messageId.slice("post_".length),
      content: contentDigestOf({ content, ...(attachments === undefined ? {} : { attachments }) }),
    };
  }
  if (!("requestId" in input) || input.requestId === undefined) return undefined;
  const [key = "", content = ""] = input.requestId.split(".");
  return { key, content };
}

/** The number of receipts that are remembered for each session. */
const maxReceipts = 1_000;

/** The content and the record of each post of a log, by key. */
type RecordedPosts = Map<string, { readonly content: string; readonly seq: number }>;

/** The posts of one session, so that a repeated one gets the receipt of the first and is applied once. */
export class PostLedger {
  readonly #live: LiveSession;
  /** The posts of the last time, accepted and ignored ones, with those that are under way. */
  readonly #recent = new Map<string, { readonly content: string; readonly receipt: Promise<Receipt> }>();
  /** The posts in the log. Read when they are first needed, and kept up to date. */
  #posts: RecordedPosts | undefined;
  #stop: () => void = () => undefined;

  constructor(live: LiveSession) {
    this.#live = live;
    live.onReplaced(() => {
      this.#stop();
      this.#posts = undefined;
    });
  }

  /**
   * Makes a post unless it was made before. `mayExist` returns false if the log certainly does not contain it. Throws
   * `idempotency-key-reused` for the key of another post.
   */
  async once(
    id: RequestId,
    post: () => Promise<Receipt>,
    mayExist: () => boolean = () => true,
  ): Promise<Receipt> {
    if (!id.isRepeatable) return await post();
    const recent = this.#recent.get(id.key);
    if (recent !== undefined) {
      checkContent(id, recent.content);
      return await recent.receipt;
    }
    const receipt = this.#postOnce(id, post, mayExist);
    this.#recent.set(id.key, { content: id.content, receipt });
    const [oldest] = this.#recent.keys();
    if (this.#recent.size > maxReceipts && oldest !== undefined) this.#recent.delete(oldest);
    try {
      return await receipt;
    } catch (error) {
      // A post that failed may be repeated.
      this.#recent.delete(id.key);
      throw error;
    }
  }

  /** Whether the log is known to contain a post. Synchronous, for a check at the moment at which a post is applied. */
  isRecorded(id: RequestId): boolean {
    return this.#posts?.has(id.key) ?? false;
  }

  async #postOnce(id: RequestId, post: () => Promise<Receipt>, mayExist: () => boolean): Promise<Receipt> {
    const before = mayExist() ? await this.#find(id) : undefined;
    if (before !== undefined) return before;
    const receipt = await post();
    if (receipt.status === "accepted") return receipt;
    // Another process may have recorded it first.
    return (await this.#find(id)) ?? receipt;
  }

  async #find(id: RequestId): Promise<Receipt | undefined> {
    const posts = this.#posts ?? (await this.#read());
    const found = posts.get(id.key);
    if (found === undefined) return undefined;
    checkContent(id, found.content);
    return { status: "accepted", seq: found.seq };
  }

  async #read(): Promise<RecordedPosts> {
    const posts: RecordedPosts = new Map();
    const stop = await this.#live.session.follow(0, (seq, input) => {
      const post = postOf(input);
      if (post !== undefined && !posts.has(post.key)) posts.set(post.key, { content: post.content, seq });
    });
    // Another post may have read the log at the same time.
    if (this.#posts !== undefined) stop();
    else {
      this.#stop = stop;
      this.#posts = posts;
    }
    return this.#posts;
  }
}

function checkContent(id: RequestId, content: string): void {
  if (id.content === content) return;
  throw new HttpProblem("idempotency-key-reused", "This idempotency key belongs to another request.");
}
