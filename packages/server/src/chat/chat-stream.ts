import type { AgentEvent, AgentInput, AgentState, DataPatch } from "@moora/agent";
import { PacedStream } from "../events/paced-stream.ts";
import { streamResponse } from "../events/event-stream.ts";
import type { StreamHold } from "../routes/stream-hold.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import type { ServerContext } from "../server-options.ts";
import type { ChatFormat, ChatTranslator } from "./chat-format.ts";
import { LoopWriter } from "./loop-writer.ts";
import type { PostedMessage } from "./posted-message.ts";
import type { UiChunk } from "./ui-chunk.ts";

/** What a client of a stream has already. */
export type ChatStart =
  /** Nothing: a loop is written from its beginning. Default: the newest one. */
  | { readonly type: "replay"; readonly loop?: number | undefined }
  /** The newest loop up to now, or what it has posted of a loop. */
  | { readonly type: "continue"; readonly posted?: PostedMessage | undefined }
  /** Everything before this message. */
  | { readonly type: "message"; readonly messageId: string };

/** The events of a sub-agent after which other questions may be open. */
const showsQuestions: ReadonlySet<AgentEvent["type"]> = new Set([
  "ApprovalRequested",
  "ToolCallStarted",
  "ToolCallFinished",
  "FinalAnswer",
  "Error",
]);

/** One loop of a session as a stream of one format. It begins to listen when it is created, and releases the session when it ends. */
export class ChatStream {
  readonly #live: LiveSession;
  readonly #limit: number;
  readonly #user: string;
  readonly #format: ChatFormat;
  readonly #translator: ChatTranslator;
  readonly #paced: PacedStream;
  readonly #release: () => void;
  readonly #stopListening: () => void;
  #detach: () => void = () => undefined;
  #texts: string[] = [];
  #buffered = 0;
  #writer: LoopWriter | undefined;
  #messageId: string | undefined;
  #isHeld = false;

  /** `user` is the one who reads the stream. */
  constructor({ clock, limits }: ServerContext, hold: StreamHold, format: ChatFormat, user: string) {
    this.#user = user;
    const { live, drop } = hold;
    this.#format = format;
    this.#translator = format.translator(live);
    this.#live = live;
    this.#limit = limits.maxBodyBytes + limits.maxBufferedBytes;
    this.#release = () => hold.release();
    const isOver = (): boolean => this.#writer?.isEnded === true || live.isEnded;
    const texts = (): readonly string[] => this.#texts;
    this.#paced = new PacedStream(
      {
        next: async () => this.#next(),
        nextNow: () => this.#next(),
        close: () => this.#close(),
        get isAvailable() {
          return texts().length > 0 || isOver();
        },
        get isEnded() {
          return texts().length === 0 && isOver();
        },
      },
      {
        clock,
        keepAliveMs: limits.keepAliveMs,
        stallMs: limits.streamStallMs,
        head: ": chat\n\n",
        drop,
      },
    );
    const stops = [live.onReplaced(() => this.#replaced()), live.onEnded(() => this.end())];
    this.#stopListening = () => {
      for (const stop of stops) stop();
    };
    this.#attach();
    hold.endsBy(() => this.end());
  }

  get response(): Response {
    return streamResponse(this.#paced.stream, this.#format.headers);
  }

  /** Whether it has written the beginning of a loop. */
  get hasBegun(): boolean {
    return this.#writer !== undefined;
  }

  /** Begins the stream. One that continues does not end before `release`, so that several decisions count together. */
  begin(start: ChatStart): void {
    const view = this.#live.session.current();
    if (start.type === "message") {
      this.#messageId = start.messageId;
      return;
    }
    const { questions, streaming } = this.#live.stream;
    if (start.type === "replay")
      this.#newWriter(start.loop ?? view.reActContext.loop).resume(view, questions, streaming);
    else {
      this.#isHeld = true;
      const { posted } = start;
      const { loop } = view.reActContext;
      const writer = this.#newWriter(Math.min(posted?.loop ?? loop, loop));
      if (posted === undefined) this.#join(writer, view);
      else writer.continueFrom(view, this.#live.stream, posted);
    }
    this.#paced.available();
  }

  /** Lets a stream that continues end. */
  release(): void {
    this.#isHeld = false;
    this.#update(this.#live.session.current());
  }

  /** Makes the stream one that only reports why a request is refused. */
  refuse(errorText: string, code: string): void {
    this.#newWriter(this.#live.session.current().reActContext.loop).refuse(errorText, code);
    this.#paced.available();
  }

  end(): void {
    this.#paced.end();
  }

  #attach(): void {
    this.#detach();
    const { session, stream } = this.#live;
    const onEvent = (event: AgentEvent<unknown>): void => this.#event(event, session.current());
    const stops = [
      session.onInput((input, state) => this.#input(input, state)),
      session.onEvent(onEvent),
      stream.onEvent(onEvent),
    ];
    this.#detach = () => {
      for (const stop of stops) stop();
    };
  }

  #event(event: AgentEvent<unknown>, state: AgentState): void {
    this.#writer?.event(event, state, this.#live.stream);
    // The state of the session does not show what a sub-agent asks.
    if (event.type === "SubAgentEvent" && showsQuestions.has(event.event.type)) this.#update(state);
  }

  #input(input: AgentInput, state: AgentState): void {
    if (input.type === "user-message-received" && input.messageId === this.#messageId) this.#answer(state);
    // Before the rest, which may end the stream.
    this.#dataChanged(state, patchesOf(input));
    this.#update(state);
  }

  /** Begins the answer to the message. What a running loop has written before it is a part only of a message that is replaced. */
  #answer(state: AgentState): void {
    const { questions, streaming } = this.#live.stream;
    const writer = this.#newWriter(state.reActContext.loop);
    if (this.#format.replacesMessages) writer.resume(state, questions, streaming);
    else this.#join(writer, state);
  }

  /** Begins within a loop: after what it has written, and at the end of what the client has of the text that is being streamed. */
  #join(writer: LoopWriter, state: AgentState): void {
    const { questions, streaming } = this.#live.stream;
    writer.skip(state, questions);
    if (streaming === null) return;
    writer.join(state, streaming, this.#translator.clientText?.(streaming.messageId) ?? "");
  }

  /** Another process may have recorded inputs that this one has not seen one by one. */
  #replaced(): void {
    this.#attach();
    const view = this.#live.session.current();
    if (this.#writer === undefined && view.messages.some(({ id }) => id === this.#messageId))
      this.#newWriter(view.reActContext.loop);
    this.#dataChanged(view, undefined);
    this.#update(view);
  }

  #dataChanged(state: AgentState, patches: readonly DataPatch[] | undefined): void {
    if (this.#writer === undefined || this.#writer.isEnded) return;
    this.#send(this.#translator.dataEvents?.(state, patches) ?? []);
  }

  #update(state: AgentState): void {
    this.#writer?.update(state, this.#live.stream.questions, !this.#isHeld);
    this.#paced.available();
  }

  #newWriter(loop: number): LoopWriter {
    this.#writer = new LoopWriter(loop, this.#user, (chunk) => this.#push(chunk));
    return this.#writer;
  }

  #push(chunk: UiChunk): void {
    const shown = chunk.type === "file" ? { ...chunk, url: this.#live.viewerUrl(chunk.url) } : chunk;
    this.#send(this.#translator.eventsOf(shown));
  }

  #send(events: readonly object[]): void {
    for (const event of events) {
      const text = `data: ${JSON.stringify(event)}\n\n`;
      this.#texts.push(text);
      this.#buffered += text.length;
    }
    // The client can resume: the loop is written from its beginning then.
    if (this.#buffered > this.#limit) this.end();
    else this.#paced.available();
  }

  #next(): string | undefined {
    const text = this.#texts.shift();
    if (text === undefined) return undefined;
    this.#buffered -= text.length;
    const isLast = this.#texts.length === 0 && this.#writer?.isEnded === true;
    return isLast ? text + this.#format.endText : text;
  }

  #close(): void {
    this.#stopListening();
    this.#detach();
    this.#texts = [];
    this.#release();
  }
}

/** The patches by which an input changes application data. Undefined without one, and for data of another version. */
function patchesOf(input: AgentInput): readonly DataPatch[] | undefined {
  if (!("patches" in input) || ("version" in input && input.version !== undefined)) return undefined;
  return input.patches;
}
