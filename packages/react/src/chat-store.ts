import type { AgentEvent, AgentState, Question } from "@moora/agent";
import { isLoopRunning, isPaused } from "@moora/agent-core-state-machine";
import { openCallsOf } from "@moora/agent-core-state-machine/internal";
import type { Chat, ChatConnection, ChatMessage, ChatSession, ChatStatus } from "./chat.ts";
import { FinalAnswer } from "./final-answer.ts";
import { MessageList, reuseParts } from "./messages.ts";
import { Streamed } from "./streamed.ts";

/** A message with what is streamed, and what it was made of. */
interface LiveMessage {
  readonly version: string;
  readonly from: ChatMessage;
  readonly message: ChatMessage;
}

/** What one session shows, for all components that use it. */
export class ChatStore<Data> {
  readonly #session: ChatSession<Data>;
  readonly #listeners = new Set<() => void>();
  readonly #list = new MessageList();
  readonly #answer = new FinalAnswer();
  readonly #live = new Map<string, LiveMessage>();
  readonly #streamed: Streamed;
  #stop: (() => void) | undefined;
  #chat: Chat<Data> | undefined;
  /** What the chat was made of. */
  #seq = -1;
  #connection: ChatConnection | undefined;
  #isDrafting = false;
  /** Whether something has changed that has no record, such as a question of a sub-agent. */
  #isStale = false;
  #view: unknown;

  constructor(session: ChatSession<Data>) {
    this.#session = session;
    this.#streamed = new Streamed(session.draft);
  }

  /** Calls back after each change. Returns a function that unsubscribes. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    this.#stop ??= this.#listen();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#stop?.();
      this.#stop = undefined;
    };
  };

  /** What the session shows; the same object while a message is streamed. */
  readonly chat = (): Chat<Data> => {
    const seq = this.#session.seq();
    const connection = this.#session.connection?.();
    const isDrafting = this.#drafts();
    const isCurrent = seq === this.#seq && connection === this.#connection && isDrafting === this.#isDrafting;
    if (this.#chat !== undefined && isCurrent && !this.#isStale) return this.#chat;
    this.#seq = seq;
    this.#connection = connection;
    this.#isDrafting = isDrafting;
    this.#isStale = false;
    const made = this.#make();
    if (this.#chat === undefined || !isSameChat(this.#chat, made)) this.#chat = made;
    return this.#chat;
  };

  /** A message with what is streamed; undefined for an unknown id. */
  message(id: string): ChatMessage | undefined {
    this.chat();
    const from = this.#list.byId(id);
    if (from === undefined) return undefined;
    const { version } = this.#streamed;
    const known = this.#live.get(id);
    if (known?.from === from && known.version === version) return known.message;
    const made = this.#streamed.with(from);
    if (made === from) {
      this.#live.delete(id);
      return from;
    }
    const message = known === undefined ? made : reuseParts(known.message, made);
    this.#live.set(id, { version, from, message });
    return message;
  }

  #listen(): () => void {
    this.#isStale = true;
    const stops = [
      this.#session.subscribe(() => this.#changed()),
      this.#session.onEvent((event) => this.#take(event)),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  #changed(): void {
    const view = this.#session.current();
    // The state and the text are as before: it is something else that has changed.
    if (view === this.#view) this.#isStale = true;
    this.#view = view;
    this.#notify();
  }

  #take(event: AgentEvent<unknown>): void {
    if (event.type === "SubAgentEvent") this.#isStale = true;
    if (this.#streamed.add(event) || this.#isStale) this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Whether the model writes something before any text, for which the state has no message. */
  #drafts(): boolean {
    const { control } = this.#session.current().reActContext;
    return control.type === "Planning" && control.messageId === null && this.#streamed.hasDrafts;
  }

  #make(): Chat<Data> {
    const session = this.#session;
    const state = session.current();
    const { control } = state.reActContext;
    const { send, decide, update, cancel, retry, pause, resume } = session;
    return {
      session,
      messages: this.#list.of(state, this.#isDrafting),
      status: isPaused(state) ? "paused" : statusOf(state),
      ...(control.type === "Error" ? { failure: control.failure } : {}),
      answer: this.#answer.at(state),
      questions: reuseQuestions(this.#chat?.questions ?? [], session.questions()),
      data: state.data,
      connection: this.#connection,
      send,
      decide,
      update,
      cancel,
      retry,
      pause,
      resume,
    };
  }
}

function statusOf(state: AgentState): ChatStatus {
  const { control } = state.reActContext;
  if (control.type === "Error") return "failed";
  if (!isLoopRunning(state)) return "idle";
  const calls = openCallsOf(control);
  return calls.length > 0 && calls.every(({ status }) => status.type === "asking") ? "waiting" : "running";
}

/** The same list as before if the questions are the same. */
function reuseQuestions(before: readonly Question[], now: readonly Question[]): readonly Question[] {
  const isUnchanged =
    before.length === now.length && before.every((question, index) => isSameQuestion(question, now[index]));
  return isUnchanged ? before : now;
}

const isSameQuestion = (a: Question, b: Question | undefined): boolean =>
  a.digest === b?.digest &&
  a.toolCallId === b.toolCallId &&
  a.reminder === b.reminder &&
  a.escalated === b.escalated &&
  a.due === b.due &&
  a.risk === b.risk &&
  a.reason === b.reason &&
  JSON.stringify(a.path) === JSON.stringify(b.path);

const isSameChat = <Data>(a: Chat<Data>, b: Chat<Data>): boolean =>
  a.messages === b.messages &&
  a.status === b.status &&
  a.failure === b.failure &&
  a.answer === b.answer &&
  a.questions === b.questions &&
  a.data === b.data &&
  a.connection === b.connection;

/** The store of each session, so that all components of a page share one. */
const stores = new WeakMap<object, ChatStore<unknown>>();

/** The store of a session. */
export function storeOf<Data>(session: ChatSession<Data>): ChatStore<Data> {
  // The store of a session has the type of its data.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const known = stores.get(session) as ChatStore<Data> | undefined;
  if (known !== undefined) return known;
  const store = new ChatStore(session);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  stores.set(session, store as ChatStore<unknown>);
  return store;
}
