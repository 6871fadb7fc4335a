import type { ClientError } from "./client-error.ts";

/** A kind of post: the last part of its address. */
export type PostKind = "messages" | "decisions" | "data" | "cancel" | "retry" | SteeringKind;

/** The kinds of posts about what the session does by itself. */
type SteeringKind = "pause" | "resume" | "schedule" | "unschedule";

/** A post whose record this session does not contain. `key` is its idempotency key; `content` the text of a message. */
export interface PendingPost {
  readonly key: string;
  readonly kind: PostKind;
  readonly content?: string;
  /** Whether the server has made it durable: only its record is missing here. */
  readonly isConfirmed: boolean;
}

/** A post that waits for its turn. */
export interface Post extends Omit<PendingPost, "isConfirmed"> {
  /** The id of the message that its record contains. */
  readonly messageId?: string;
  /** Whether its record is in the log of a sub-agent, and not in that of the session. */
  readonly isForSubAgent?: boolean;
  /** The body, computed when it is sent for the first time; undefined if there is nothing to send. */
  readonly body: () => unknown;
  /** What replaces this post after the server has refused it; undefined to reject with the error. */
  readonly remake?: (error: ClientError) => Promise<Post | undefined>;
}
