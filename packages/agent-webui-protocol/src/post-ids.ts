/** A digest of texts: `digestOf` of `@moora/event-log`. */
type DigestOf = (...texts: readonly string[]) => string;

/** What identifies a post: its kind, such as `messages`, the user, and the idempotency key. */
export interface PostIdentity {
  readonly kind: string;
  readonly user: string;
  readonly key: string;
}

const messagePrefix = "post_";

/** The id of a post, which is equal for equal identities. The log contains it, so it must not change. */
export const postIdOf = (digestOf: DigestOf, { kind, user, key }: PostIdentity): string =>
  digestOf(kind, user.toWellFormed(), key.toWellFormed());

/** The id of the message that a post adds. */
export const postIdToMessageId = (postId: string): string => `${messagePrefix}${postId}`;

/** The id of the post that has added a message; undefined for a message that no post has added. */
export const messageIdToPostId = (messageId: string): string | undefined =>
  messageId.startsWith(messagePrefix) ? messageId.slice(messagePrefix.length) : undefined;
