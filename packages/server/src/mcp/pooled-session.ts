import { nextWorkAt, userMessage, type AgentEvent, type Receipt } from "@moora/agent";
import type { CallSession } from "@moora/agent/internal";
import type { ServerParts } from "../server-parts.ts";
import { dispatchCancel, dispatchMessage, type MadePost } from "../sessions/dispatch-post.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import { requestIdOf, type PostRequest } from "../sessions/request-ids.ts";
import type { SessionHold } from "../sessions/session-pool.ts";

/** Whether nothing is left to do but by a person. The owner may be another server, so that only the state shows it. */
function isSettled(live: LiveSession): boolean {
  const next = nextWorkAt(live.session.current());
  return next === null || (next > 0 && live.stream.questions.length > 0);
}

/**
 * A session of the pool for a call of a tool: of this server, which runs it beside its viewers, or of another one, to which it posts.
 * The pool keeps it open until the use ends.
 */
export class PooledSession implements CallSession {
  readonly id: string;
  readonly #parts: ServerParts;
  readonly #user: string;
  readonly #live: LiveSession;
  readonly #release: () => void;

  /** `user` is the one whose posts these are. */
  constructor(parts: ServerParts, user: string, { live, release }: SessionHold) {
    this.id = live.ref.id;
    this.#parts = parts;
    this.#user = user;
    this.#live = live;
    const leave = live.stream.view();
    this.#release = () => {
      leave();
      release();
    };
  }

  readonly send: CallSession["send"] = async (userContent) => {
    const { content, attachments } = userMessage(userContent);
    const message = attachments === undefined ? { content } : { content, attachments };
    return await this.#post("messages", message, (post) => dispatchMessage(post, message));
  };

  readonly decide: CallSession["decide"] = async (question, decision, by) =>
    await this.#post("decisions", { question, decision }, ({ session, id }) =>
      session.decide(question, decision, by, id.text),
    );

  readonly cancel: CallSession["cancel"] = async (reason) =>
    await this.#post("cancel", { reason }, (post) => dispatchCancel(post, reason));

  readonly questions: CallSession["questions"] = () => this.#live.stream.questions;
  readonly current: CallSession["current"] = () => this.#live.session.current();
  readonly trace: CallSession["trace"] = () => this.#live.session.trace();
  readonly info: CallSession["info"] = () => this.#live.session.info();

  readonly onEvent = (listener: (event: AgentEvent<unknown>) => void): (() => void) =>
    this.#live.listen({ onEvent: listener });

  readonly settled = async (): Promise<void> => {
    const live = this.#live;
    while (!live.isEnded) {
      const { session } = live;
      if (live.isOwner) await session.settled();
      if (live.isCurrent(session) && (live.isOwner || isSettled(live))) return;
      if (live.isOwner || !live.isCurrent(session)) await live.refresh();
      else await changed(live);
    }
  };

  readonly close = async (): Promise<void> => this.#release();

  /** Makes a post once, also if the session changes its owner in the middle of it. */
  async #post(
    kind: PostRequest["kind"],
    content: unknown,
    make: (post: MadePost) => Promise<Receipt>,
  ): Promise<Receipt> {
    const { context } = this.#parts;
    const id = requestIdOf({ kind, user: this.#user, key: undefined, content });
    const timestamp = context.clock.now();
    const ledger = this.#parts.ledgerOf(this.#live);
    return await context.counters.countPost(kind, () =>
      ledger.once(id, (session, isRecorded) => make({ session, isRecorded, id, timestamp })),
    );
  }
}

/** Resolves when a session that another server runs has a new record or question, has another owner, or has ended. */
async function changed(live: LiveSession): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const change = (): void => resolve();
  const stops = [
    live.listen({ onInput: change, onReplaced: change, onEnded: change }),
    live.stream.onEvent(change),
  ];
  await promise;
  for (const stop of stops) stop();
}
