import { canonicalJson, type AgentAttachment, type AgentInput } from "@moora/agent";
import { base64OfUrl, base64ToBytes } from "@moora/agent/internal";
import { messageIdToPostId, postIdOf, postIdToMessageId } from "@moora/agent-webui-protocol";
import { blobUrl, digestOf, type BlobStore } from "@moora/event-log";

/** The kinds of posts about what the session does by itself. */
type SteeringKind = "pause" | "resume" | "schedule" | "unschedule";

/** A post of a user: its kind, its idempotency key, and what it asks for. */
export interface PostRequest {
  readonly kind: "messages" | "decisions" | "cancel" | "data" | "retry" | SteeringKind;
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
  const keyDigest = postIdOf(digestOf, { kind, user, key: key ?? crypto.randomUUID() });
  const contentDigest = contentDigestOf(content);
  return {
    isRepeatable: key !== undefined,
    key: keyDigest,
    content: contentDigest,
    messageId: postIdToMessageId(keyDigest),
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
  /** The content of a message with files at addresses that a store chose: its digest differs from that of the post. */
  readonly withFiles?: { readonly content: string; readonly attachments: readonly AgentAttachment[] };
}

/** The post that an input records; undefined if it records none. */
export function recordedPostOf(input: AgentInput): RecordedPost | undefined {
  if (input.type === "user-message-received") {
    const key = messageIdToPostId(input.messageId);
    if (key === undefined) return undefined;
    const { content, attachments } = input;
    const posted = { content, ...(attachments === undefined ? {} : { attachments }) };
    const isElsewhere = attachments?.some(({ url }) => !/^(data|ni):/.test(url)) === true;
    return {
      key,
      content: contentDigestOf(posted),
      ...(isElsewhere ? { withFiles: { content, attachments } } : {}),
    };
  }
  if (!("requestId" in input) || input.requestId === undefined) return undefined;
  const [key = "", content = ""] = input.requestId.split(".");
  return { key, content };
}

/** Whether the log contains a post with this digest of its content. The bytes of files are read from their store if need be. */
export async function isSameContent(
  { content, withFiles }: RecordedPost,
  digest: string,
  blobs: BlobStore | undefined,
): Promise<boolean> {
  if (content === digest || withFiles === undefined || blobs === undefined) return content === digest;
  const attachments = await Promise.all(
    withFiles.attachments.map(async (file) => {
      const bytes = await blobs.get(file.url);
      return bytes === undefined ? file : { ...file, url: blobUrl(bytes) };
    }),
  );
  return contentDigestOf({ ...withFiles, attachments }) === digest;
}
