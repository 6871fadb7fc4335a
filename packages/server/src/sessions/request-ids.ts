import { canonicalJson, type AgentInput } from "@moora/agent";
import { base64OfUrl, base64ToBytes } from "@moora/agent/internal";
import { blobUrl, digestOf } from "@moora/event-log";

/** A post of a user: its kind, its idempotency key, and what it asks for. */
export interface PostRequest {
  readonly kind: "messages" | "decisions" | "cancel" | "data" | "retry" | "pause" | "resume";
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
  const data = base64OfUrl(url);
  const bytes = data === undefined ? undefined : base64ToBytes(data);
  return bytes === undefined ? url : blobUrl(bytes);
}

const contentDigestOf = (content: unknown): string =>
  digestOf(canonicalJson(withStoredUrls(content)).toWellFormed());

/** A post that the log contains. */
export interface RecordedPost {
  readonly key: string;
  readonly content: string;
}

/** The post that an input records; undefined if it records none. */
export function postOf(input: AgentInput): RecordedPost | undefined {
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
