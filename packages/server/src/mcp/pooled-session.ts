import { nextWorkAt, userMessage, type AgentEvent, type DurableSession, type Receipt } from "@moora/agent";
import type { ServerParts } from "../server-parts.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import type { SessionHold } from "../sessions/session-pool.ts";
import { onSessions } from "../sessions/on-sessions.ts";
import type { McpCallSession } from "./mcp-option.ts";

/** Whether nothing is left to do but by a person. The owner may be another server, so that only the state shows it. */
function isSettled(live: LiveSession): boolean {
  const next = nextWorkAt(live.session.current());
  return next === null || (next > 0 && live.stream.questions.length > 0);
}

/**
 * A session of the pool for a call of a tool: of this server, which runs it beside its viewers, or of another one, to which it posts.
 * The pool keeps it open until the use ends.
 */
export class PooledSession implements McpCallSession {
  readonly id: string;
  readonly #live: LiveSession;
  readonly #context: ServerParts["context"];
  readonly #release: () => void;

  constructor({ context }: ServerParts, { live, release }: SessionHold) {
    this.id = live.ref.id;
    this.#live = live;
    this.#context = context;
    const leave = live.stream.view();
    this.#release = () => {
      leave();
      release();
    };
  }

  readonly send: McpCallSession["send"] = async (content) => {
    // The same input for each attempt: the second one of a session that changes its owner is a repetition.
    const input = userMessage(content, { timestamp: this.#context.clock.now() });
    return await this.#post("messages", async (session) => await session.dispatch(input));
  };

  readonly decide: McpCallSession["decide"] = async (question, decision, by, requestId) =>
    await this.#post("decisions", async (session) => await session.decide(question, decision, by, requestId));

  readonly cancel: McpCallSession["cancel"] = async (reason, requestId) =>
    await this.#post("cancel", async (session) => await session.cancel(reason, requestId));

  readonly questions: McpCallSession["questions"] = () => this.#live.stream.questions;
  readonly current: McpCallSession["current"] = () => this.#live.session.current();
  readonly trace: McpCallSession["trace"] = () => this.#live.session.trace();
  readonly info: McpCallSession["info"] = () => this.#live.session.info();

  readonly onEvent = (listener: (event: AgentEvent<unknown>) => void): (() => void) =>
    onSessions(this.#live, (session) => [session.onEvent(listener), this.#live.stream.onEvent(listener)]);

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

  async #post(kind: string, post: (session: DurableSession<unknown>) => Promise<Receipt>): Promise<Receipt> {
    return await this.#context.counters.countPost(kind, () => this.#live.post(post));
  }
}

/** Resolves when a session that another server runs has a new record or question, has another owner, or has ended. */
async function changed(live: LiveSession): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const change = (): void => resolve();
  const stops = [
    onSessions(live, (session) => [session.onInput(change), live.stream.onEvent(change)]),
    live.onReplaced(change),
    live.onEnded(change),
  ];
  await promise;
  for (const stop of stops) stop();
}
