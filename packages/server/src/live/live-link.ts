import type { AgentEvent, DurableSession, Question, SessionView } from "@moora/agent";
import { callsAtWork, liveKeyOf } from "@moora/agent/internal";
import { DraftKeeper, type AnswerDraft } from "./answer-draft.ts";
import { LiveFeed } from "./live-feed.ts";
import type { LiveHub } from "./live-hub.ts";
import { ReceivedMessages } from "./received-messages.ts";

/** What one session streams, whether this server or another one runs it. */
export class LiveLink {
  readonly #hub: LiveHub | undefined;
  readonly #maxHeld: number;
  readonly #drafts = new DraftKeeper();
  readonly #listeners = new Set<(event: AgentEvent<unknown>) => void>();
  /** The questions of sub-agents that were decided here, while another server runs the session: it may not have read the decision. */
  readonly #decided = new Set<string>();
  #session: DurableSession<unknown> | undefined;
  /** What the viewers have, also if the session is opened again meanwhile. */
  #messages: ReceivedMessages | undefined;
  #viewers = 0;
  #feed: LiveFeed | undefined;
  #stop: (() => void) | undefined;
  #stopListening: () => void = () => undefined;

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

  /** The text that is being streamed. */
  get streaming(): SessionView["streaming"] {
    return this.#feed === undefined ? (this.#session?.current().streaming ?? null) : this.#feed.streaming;
  }

  /** What the model has written of its answer. */
  get draft(): AnswerDraft | undefined {
    return this.#session && this.#drafts.draftAt(this.#session.current());
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
    if (session.info().access === "run") this.#drafts.begin(session.current().streaming);
    // Before all viewers, which read the draft when an event has made it grow.
    const stops = [
      session.onEvent((event) => this.#drafts.add(event)),
      session.onInput(({ type }, state) => {
        // Another owner has read all decisions.
        if (type === "session-opened") this.#decided.clear();
        this.#drafts.follow(state);
      }),
    ];
    this.#stopListening = () => {
      for (const stop of stops) stop();
    };
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
      this.#messages = undefined;
    };
  }

  close(): void {
    this.#stopListening();
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
      this.#messages = undefined;
      this.#stop = hub.publish(key, session, () => this.draft);
      return;
    }
    if (this.#viewers === 0) return;
    const emit = (event: AgentEvent<unknown>): void => {
      this.#drafts.add(event);
      for (const listener of this.#listeners) listener(event);
    };
    const ask = (): void => hub.ask(key);
    if (this.#messages === undefined) this.#drafts.begin(null);
    this.#messages ??= new ReceivedMessages({ emit, ask });
    this.#feed = new LiveFeed(session, { key, maxHeld: this.#maxHeld, messages: this.#messages, emit, ask });
    this.#stop = hub.follow(key, this.#feed);
  }
}

/** What distinguishes a question from others, also from one about the same call. */
const keyOf = ({ digest, about }: Question): string => `${about} ${digest}`;
