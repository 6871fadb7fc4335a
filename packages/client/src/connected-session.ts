import { step } from "@moora/agent-core-state-machine";
import {
  AgentError,
  type AgentInput,
  type AgentState,
  type Question,
  type Recipe,
  type SessionView,
} from "@moora/agent";
import {
  checkedListener,
  questionEvent,
  questionsAt,
  SessionOutput,
  ShownQuestions,
} from "@moora/agent/internal";
import { chunkToProgress, type ChunkEvent, type SubAgentQuestion } from "@moora/agent-webui-protocol";
import { checkIsKnown } from "./check-is-known.ts";
import { ClientError, closedError } from "./client-error.ts";
import { compareState } from "./compare-state.ts";
import type { ConnectSettings } from "./connect-options.ts";
import { EventStream } from "./event-stream.ts";
import { HistoryPosition } from "./history-position.ts";
import { onOnline } from "./on-online.ts";
import { fileUrlOf, sessionPath, type SessionSnapshot } from "./open-view.ts";
import { Outbox } from "./outbox.ts";
import { PostStore, scopeOf, type StoredPosts } from "./post-store.ts";
import { SessionPosts } from "./session-posts.ts";
import type { Connection, RemoteSession } from "./remote-session.ts";
import type { ServerApi } from "./server-api.ts";

/** The state of the connection without the posts. */
type Link = Connection extends infer Each ? (Each extends unknown ? Omit<Each, "pending"> : never) : never;

/** A session that folds the records of its server. */
export class ConnectedSession<Answer, Data> {
  readonly session: RemoteSession<Answer, Data>;
  readonly #api: ServerApi;
  readonly #path: string;
  readonly #output: SessionOutput<Answer>;
  readonly #history: HistoryPosition;
  readonly #subAgentQuestions: ShownQuestions;
  readonly #stream: EventStream;
  readonly #outbox: Outbox;
  readonly #posts: SessionPosts<Answer>;
  readonly #stopOnline: () => void;
  readonly #end = new AbortController();
  #state: AgentState;
  #seq: number;
  #link: Link = { status: "connecting" };
  #connection: Connection | undefined;

  constructor(
    api: ServerApi,
    settings: ConnectSettings<Answer>,
    snapshot: SessionSnapshot,
    stored: StoredPosts,
  ) {
    const { id, state, seq, questions } = snapshot;
    const { onError, answerOf } = settings;
    this.#api = api;
    this.#path = sessionPath(id);
    this.#state = state;
    this.#seq = seq;
    this.#history = new HistoryPosition(snapshot);
    this.#subAgentQuestions = new ShownQuestions(questions);
    this.#output = new SessionOutput<Answer>(
      { answerOf: async (text, schema = state.config.answerSchema) => await answerOf(text, schema) },
      { id, initial: state, onError, runsEffects: false },
      {
        questions: () => this.#questions(),
        decide: (question, decision) => this.#posts.decide(question, decision),
      },
    );
    this.#outbox = this.#newOutbox(settings, snapshot);
    this.#posts = this.#newPosts(settings, snapshot);
    this.#stream = this.#newStream(settings);
    this.#stopOnline = onOnline(() => this.#reconnect());
    this.session = this.#methods(snapshot, settings.url);
    this.#start(stored);
  }

  #newOutbox(settings: ConnectSettings<Answer>, snapshot: SessionSnapshot): Outbox {
    const { storage, url } = settings;
    return new Outbox({
      ...this.#linkOf(settings),
      query: () => this.#history.postQuery(),
      store: new PostStore({ storage, scope: scopeOf(url, snapshot), report: this.#output.errors.report }),
      onChange: () => this.#connectionChanged(),
    });
  }

  #newPosts({ clock }: ConnectSettings<Answer>, { user }: SessionSnapshot): SessionPosts<Answer> {
    return new SessionPosts({
      user,
      outbox: this.#outbox,
      output: this.#output,
      state: () => this.#state,
      seq: () => this.#seq,
      historyId: () => this.#history.id(),
      closed: () => (this.#end.signal.aborted ? closedError(this.#end.signal.reason) : undefined),
      clock,
      onBehind: () => this.#stream.restart(),
      onDecided: (question) => this.#closeQuestion(question),
    });
  }

  #newStream(settings: ConnectSettings<Answer>): EventStream {
    const { clock, streamIdleMs } = settings;
    return new EventStream({
      ...this.#linkOf(settings),
      path: `${this.#path}/events`,
      streamIdleMs,
      query: () => this.#history.query(),
      onInput: (recordSeq, input) => this.#fold(recordSeq, input),
      onChunk: (chunk) => this.#takeChunk(chunk),
      onConnecting: () => this.#setLink({ status: "connecting" }),
      onConnected: () => {
        this.#setLink({ status: "connected" });
        this.#outbox.wake();
      },
      onWaiting: (ms, cause) => this.#setLink({ status: "waiting", retryAt: clock.now() + ms, cause }),
      onFatal: (error) => this.#close(error),
    });
  }

  /** What the outbox and the stream have in common. */
  #linkOf(settings: ConnectSettings<Answer>) {
    const { clock } = settings;
    return { api: this.#api, clock, path: this.#path, delays: settings, seq: () => this.#seq };
  }

  #start(stored: StoredPosts): void {
    for (const error of stored.errors) this.#output.errors.report({ source: "log", error });
    this.#posts.restore(stored.posts);
    void this.#stream.run();
  }

  #methods({ id, agent, user }: SessionSnapshot, server: string): RemoteSession<Answer, Data> {
    const output = this.#output;
    const posts = this.#posts;
    const close = async (): Promise<void> => this.#close();
    return {
      id,
      agent,
      user,
      ask: posts.ask,
      running: posts.running,
      send: posts.send,
      decide: posts.decide,
      // The caller names the type of the data; the server checks that it fits.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      update: (recipe) => posts.update(recipe as Recipe<unknown>),
      cancel: posts.cancel,
      retry: posts.retry,
      pause: posts.pause,
      resume: posts.resume,
      schedule: posts.schedule,
      unschedule: posts.unschedule,
      questions: () => this.#questions(),
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      current: () => output.overlay.viewOf(this.#state) as SessionView<Data>,
      draft: () => output.overlay.draftAt(this.#state),
      seq: () => this.#seq,
      subscribe: (listener) => output.changes.add(checkedListener(listener)),
      onEvent: (listener) => output.questions.listen(output.events, checkedListener(listener)),
      onInput: (listener) => output.inputs.add(checkedListener(listener)),
      onError: (listener) => output.errors.listen(checkedListener(listener)),
      trace: () => output.runs.trace(),
      fileUrl: ({ url }) => fileUrlOf(server, id, url),
      connection: () => this.#currentConnection(),
      reconnect: () => this.#reconnect(),
      verify: () => this.#verify(),
      close,
      [Symbol.asyncDispose]: close,
    };
  }

  #questions(): readonly Question[] {
    return [...questionsAt(this.#state), ...this.#subAgentQuestions.all];
  }

  #fold(seq: number, input: AgentInput): void {
    checkIsKnown(seq, input);
    const next = step(input)(this.#state);
    this.#state = next.state;
    this.#seq = seq;
    this.#history.add(input);
    this.#subAgentQuestions.closeEnded(next.state);
    // Before `published`: what a listener renders has a message once, as pending or in the state.
    if (this.#outbox.folded(input.type === "user-message-received" ? input.messageId : undefined))
      this.#connection = undefined;
    this.#output.published({ input }, next, seq);
    this.#posts.follow();
  }

  #takeChunk(chunk: ChunkEvent): void {
    if (chunk.type === "question") return this.#showQuestion(this.#subAgentQuestions.add(chunk));
    if (chunk.type === "question-closed") return this.#closeQuestion(chunk);
    const progress = chunkToProgress(chunk);
    if (progress !== undefined) this.#output.received(progress);
  }

  #showQuestion(question: SubAgentQuestion | undefined): void {
    if (question === undefined) return;
    this.#output.runs.emit(questionEvent(question, (decision) => this.#posts.decide(question, decision)));
    this.#output.changes.emit();
  }

  #closeQuestion(question: Pick<Question, "toolCallId" | "path">): void {
    if (this.#subAgentQuestions.close(question) !== undefined) this.#output.changes.emit();
  }

  #currentConnection(): Connection {
    this.#connection ??= { ...this.#link, pending: this.#outbox.pending };
    return this.#connection;
  }

  #setLink(link: Link): void {
    if (this.#end.signal.aborted) return;
    this.#link = link;
    this.#connectionChanged();
  }

  #connectionChanged(): void {
    this.#connection = undefined;
    this.#output.changes.emit();
  }

  #reconnect(): void {
    this.#stream.reconnect();
    this.#outbox.wake();
  }

  /** Reads the state of the server at the record that this session has. */
  async #verify(): Promise<void> {
    if (this.#end.signal.aborted) throw closedError(this.#end.signal.reason);
    const at = { path: this.#path, seq: this.#seq, state: this.#state };
    await compareState(this.#api, at, this.#end.signal);
  }

  #close(cause?: unknown): void {
    if (this.#end.signal.aborted) return;
    if (cause !== undefined) this.#output.errors.report({ source: "log", error: cause });
    this.#link = cause instanceof ClientError ? { status: "closed", error: cause } : { status: "closed" };
    this.#end.abort(cause ?? closedError());
    this.#stopOnline();
    this.#stream.close();
    this.#outbox.close(cause);
    const message = closedError(cause).message;
    const about = { reason: "SessionClosed", state: this.#state, trace: this.#output.runs.trace(), cause };
    this.#output.runs.failAll(new AgentError("Cancelled", message, about));
    this.#posts.follow();
    this.#connectionChanged();
  }
}
