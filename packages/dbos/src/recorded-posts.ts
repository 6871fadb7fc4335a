import { digestOf } from "@moora/event-log";
import type { AgentInput, SharedSession } from "@moora/agent";

/** The types of inputs that have a field for the id of the request of a caller. */
type WithRequestId = Extract<AgentInput, { readonly requestId?: string | undefined }>;

const typesWithRequestId: Readonly<Record<WithRequestId["type"], true>> = {
  "data-changed": true,
  "loop-retried": true,
  "re-act-cancelled": true,
  "session-paused": true,
  "session-resumed": true,
  "schedule-changed": true,
  "tool-call-decided": true,
};

const hasRequestId = (input: AgentInput): input is WithRequestId =>
  Object.hasOwn(typesWithRequestId, input.type);

/**
 * The input with the id of its post, so that the log shows whether it was appended. Inputs without such a field apply at most once
 * by themselves: they have the id of a message, or the key of an effect.
 */
export const withPostId = (input: AgentInput, postId: string): AgentInput =>
  hasRequestId(input) ? { ...input, requestId: digestOf(postId) } : input;

/** A text that only this post or, for a message, only posts of this message have; undefined for an input that applies once by its key. */
const markOf = (input: AgentInput): string | undefined =>
  input.type === "user-message-received"
    ? `message ${input.messageId}`
    : hasRequestId(input) && input.requestId !== undefined
      ? `request ${input.requestId}`
      : undefined;

type PostedSession = Pick<SharedSession, "append" | "configure" | "follow">;

/** The log contains the post already. */
class PostRecorded extends Error {}

/** The posts in the log of a session, also those that this process reads or appends later. */
export class RecordedPosts {
  readonly #session: PostedSession;
  readonly #marks = new Set<string>();
  #reading: Promise<unknown> | undefined;

  constructor(session: PostedSession) {
    this.#session = session;
  }

  /**
   * Appends the input of a post unless the log contains it, also if another process appends it at the same time. Resolves with whether
   * it applied, now or before. `isFirst`: no earlier run has appended it, so that an equal message is that of another post.
   */
  async append(input: AgentInput, isFirst: boolean): Promise<boolean> {
    await this.#read();
    const isRepeated = (): boolean => !isFirst && this.#has(input);
    // Also for a post that the log contains: another release may have appended it, and what it starts follows the rules of this one.
    await this.#session.configure();
    if (isRepeated()) return true;
    // The reducer ignores a message that it knows.
    const isIgnored = input.type === "user-message-received";
    try {
      const bound = (): AgentInput => (isIgnored || !this.#has(input) ? input : recorded());
      return (await this.#session.append([bound])).applied > 0 || isRepeated();
    } catch (error) {
      if (error instanceof PostRecorded) return true;
      throw error;
    }
  }

  #has(input: AgentInput): boolean {
    const mark = markOf(input);
    return mark !== undefined && this.#marks.has(mark);
  }

  /** Reads the log once, and follows it from then on. */
  async #read(): Promise<void> {
    this.#reading ??= this.#session.follow(0, (_seq, input) => {
      const mark = markOf(input);
      if (mark !== undefined) this.#marks.add(mark);
    });
    const reading = this.#reading;
    reading.catch(() => (this.#reading = undefined));
    await reading;
  }
}

function recorded(): never {
  throw new PostRecorded();
}
