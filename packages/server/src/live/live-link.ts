import type { AgentEvent, DurableSession, Question } from "@moora/agent";
import { callsAtWork, liveKeyOf } from "@moora/agent/internal";
import type { AnswerDraft } from "@moora/agent-webui-protocol";
import { LiveFeed, ReceivedDraft } from "./live-feed.ts";
import type { LiveHub } from "./live-hub.ts";

/** What one session streams, whether this server or another one runs it. */
export class LiveLink {
  readonly #hub: LiveHub | undefined;
  readonly #maxHeld: number;
  readonly #listeners = new Set<(event: AgentEvent<unknown>) => void>();
  #session: DurableSession<unknown> | undefined;
  /** What the viewers have, also if the session is opened again meanwhile. */
  #received: ReceivedDraft | undefined;
  #viewers = 0;
  #feed: LiveFeed | undefined;
  #stop: (() => void) | undefined;

  /** Without a hub, sessions that other servers run show records only. */
  constructor(hub: LiveHub | undefined, maxHeld: number) {
    this.#hub = hub;
    this.#maxHeld = maxHeld;
  }

  /** Calls the listener with what the owner of the session streams, if that is another server. Returns a function that unsubscribes. */
  onEvent(listener: (event: AgentEvent<unknown>) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** What the model has written of its answer. */
  get draft(): AnswerDraft | undefined {
    return this.#feed === undefined ? this.#session?.draft() : this.#feed.draft;
  }

  /** The open questions, with those of sub-agents that viewers are shown. */
  get questions(): readonly Question[] {
    return [...(this.#session?.questions() ?? []), ...(this.#feed?.questions ?? [])];
  }

  /** The calls whose sub-agents do more than wait for a human, if this server runs the session. Another server does not know them. */
  get working(): ReadonlySet<string> {
    return this.#session === undefined ? new Set() : callsAtWork(this.#session);
  }

  /** Whether `questions` has all that are open. At another server than that of the session it has none before the owner has sent them. */
  get hasQuestions(): boolean {
    return this.#session?.info().access === "run" || this.#feed?.hasBegun === true;
  }

  /** Takes a question out of `questions` that was decided here. The owner of the session may not have read the decision yet. */
  closeQuestion(question: Question): void {
    this.#feed?.decided(question);
  }

  /** Begins with another `DurableSession`. */
  adopt(session: DurableSession<unknown>): void {
    this.close();
    this.#session = session;
    this.#update();
  }

  /** Adds a viewer. Returns a function that removes it, which can be called more than once. */
  view(): () => void {
    this.#viewers += 1;
    if (this.#viewers === 1) this.#update();
    let isViewing = true;
    return () => {
      if (!isViewing) return;
      isViewing = false;
      this.#viewers -= 1;
      if (this.#viewers > 0 || this.#feed === undefined) return;
      this.close();
      this.#received = undefined;
    };
  }

  close(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#feed = undefined;
  }

  #update(): void {
    const hub = this.#hub;
    const session = this.#session;
    if (hub === undefined || session === undefined || this.#stop !== undefined) return;
    const key = liveKeyOf(session.id, session.header.incarnation);
    if (session.info().access === "run") {
      this.#received = undefined;
      this.#stop = hub.publish(key, session);
      return;
    }
    if (this.#viewers === 0) return;
    const emit = (event: AgentEvent<unknown>): void => {
      for (const listener of this.#listeners) listener(event);
    };
    const ask = (): void => hub.ask(key);
    const received = (this.#received ??= new ReceivedDraft());
    this.#feed = new LiveFeed(session, { key, maxHeld: this.#maxHeld, received, emit, ask });
    this.#stop = hub.follow(key, this.#feed);
  }
}
