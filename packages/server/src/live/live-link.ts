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
  /** The questions of sub-agents that were decided here, while another server runs the session: it may not have read the decision. */
  readonly #decided = new Set<string>();
  #session: DurableSession<unknown> | undefined;
  /** What the viewers have, also if the session is opened again meanwhile. */
  #received: ReceivedDraft | undefined;
  #viewers = 0;
  #feed: LiveFeed | undefined;
  #stop: (() => void) | undefined;
  #stopListening: (() => void) | undefined;

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
    const shown = (this.#feed?.questions ?? []).filter((question) => !this.#decided.has(keyOf(question)));
    return [...(this.#session?.questions() ?? []), ...shown];
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
    if (this.#feed !== undefined) this.#decided.add(keyOf(question));
  }

  /** Begins with another `DurableSession`. */
  adopt(session: DurableSession<unknown>): void {
    this.close();
    this.#decided.clear();
    this.#session = session;
    this.#stopListening = session.onInput(({ type }) => {
      // Another owner has read all decisions.
      if (type === "session-opened") this.#decided.clear();
    });
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
      this.#closeFeed();
      this.#received = undefined;
    };
  }

  close(): void {
    this.#stopListening?.();
    this.#closeFeed();
  }

  #closeFeed(): void {
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

/** What distinguishes a question from others, also from one about the same call. */
const keyOf = ({ digest, about }: Question): string => `${about} ${digest}`;
