import type { AgentEvent, AgentInput, AgentState, DataPatch } from "@moora/agent";
import { PacedStream, type StreamSource } from "../events/paced-stream.ts";
import type { StreamHold } from "../sessions/stream-hold.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import type { ChatFormat, ChatTranslator } from "./chat-format.ts";
import type { ChatStart } from "./chat-start.ts";
import { LoopWriter } from "./loop-writer.ts";
import { endOf, isResumable } from "./loop-end.ts";
import { showsQuestions } from "./sub-agent-questions.ts";
import type { UiChunk } from "./ui-chunk.ts";

const cutMessage = "The stream ended before the answer was complete. Read it again: it may continue.";

/**
 * One loop of a session as a stream of one format. It begins to listen when it is created, and releases the session when it ends. A reader
 * that was behind gets the difference between what it has taken and the state.
 */
export class ChatStream implements StreamSource {
  readonly head = ": chat\n\n";
  readonly behindMessage =
    "A reader of an answer is behind; it gets what it misses together, when it reads on.";
  readonly #live: LiveSession;
  readonly #user: string;
  readonly #onWhole: ((loop: number) => void) | undefined;
  readonly #format: ChatFormat;
  readonly #translator: ChatTranslator;
  readonly #output: PacedStream;
  readonly #stopListening: () => void;
  #writer: LoopWriter | undefined;
  #messageId: string | undefined;
  #isHeld = false;

  /** `onWhole` is called when the reader has taken the end of a loop. */
  constructor(hold: StreamHold, format: ChatFormat, onWhole?: (loop: number) => void) {
    const { live, call } = hold;
    this.#user = call.access.user;
    this.#onWhole = onWhole;
    this.#format = format;
    this.#translator = format.translator(live);
    this.#live = live;
    this.#output = new PacedStream(hold, this);
    this.#stopListening = live.listen({
      onInput: (input, state) => this.#input(input, state),
      onEvent: (event) => this.#event(event, live.session.current()),
      onReplaced: () => this.#replaced(),
      onEnded: () => this.end(),
    });
    this.#output.begin();
  }

  get response(): Response {
    return this.#output.response(this.#format.headers);
  }

  /** Whether it has written the beginning of a loop. */
  get hasBegun(): boolean {
    return this.#writer !== undefined;
  }

  /** Begins the stream. One that continues or is held does not end before `release`, so that several decisions count together. */
  begin(start: ChatStart): void {
    const view = this.#live.session.current();
    if (start.type === "message") {
      this.#messageId = start.messageId;
      this.#isHeld = start.isHeld === true;
      return;
    }
    this.#output.uncounted(() => {
      if (start.type === "replay") this.#replay(view, start);
      else if (start.type === "rest") this.#continueRest(view, start.isHeld === true);
      else this.#continue(view, start);
    });
    this.#output.available();
  }

  /** Lets a stream that was held end. */
  release(): void {
    this.#isHeld = false;
    this.#update(this.#live.session.current());
  }

  #replay(
    view: AgentState,
    { loop = view.reActContext.loop, refusal }: Extract<ChatStart, { type: "replay" }>,
  ): void {
    const writer = this.#newWriter(loop);
    if (refusal !== undefined) writer.refuseAtEnd(refusal);
    writer.resume(view, this.#live.stream);
  }

  #continue(view: AgentState, { posted, logged = [] }: Extract<ChatStart, { type: "continue" }>): void {
    this.#isHeld = true;
    const { loop } = view.reActContext;
    const writer = this.#newWriter(Math.min(posted?.loop ?? loop, loop));
    if (posted === undefined) this.#join(writer, view);
    else {
      const { questions, draft } = this.#live.stream;
      writer.continueFrom(view, { questions: [...questions, ...logged], draft }, posted);
    }
  }

  #continueRest(view: AgentState, isHeld: boolean): void {
    this.#isHeld = isHeld;
    const { questions, draft } = this.#live.stream;
    const writer = this.#newWriter(view.reActContext.loop);
    this.#send(this.#translator.conversation?.() ?? []);
    writer.skip(view, questions);
    writer.update(view, questions, !isHeld);
    writer.follow(view, draft);
  }

  /** Ends the stream with the reason why a request is refused; after the conversation of the log, if `withConversation`. */
  refuse(errorText: string, code: string, withConversation = false): void {
    if (this.#writer === undefined) {
      this.#newWriter(this.#live.session.current().reActContext.loop);
      if (withConversation) this.#send(this.#translator.conversation?.() ?? []);
    }
    this.#writer?.refuse(errorText, code);
    this.#output.available();
  }

  end(): void {
    this.#output.end();
  }

  #event(event: AgentEvent<unknown>, state: AgentState): void {
    if (this.#output.isBehind) return;
    this.#writer?.event(event, state, this.#live.stream);
    // The state of the session does not show what a sub-agent asks.
    if (event.type === "SubAgentEvent" && showsQuestions.has(event.event.type)) this.#update(state);
  }

  #input(input: AgentInput, state: AgentState): void {
    if (input.type === "user-message-received" && input.messageId === this.#messageId)
      this.#output.uncounted(() => this.#answer(state));
    // The end of a loop is not missed: a later state does not show how it ended.
    const { questions, working } = this.#live.stream;
    if (this.#output.isBehind && endOf(state, questions, working) !== undefined)
      this.#output.resume(() => this.#writeMissing(state));
    // Before the rest, which may end the stream.
    this.#dataChanged(state, patchesOf(input));
    this.#update(state);
  }

  /** Begins the answer to the message. What a running loop has written before it is a part only of a message that is replaced. */
  #answer(state: AgentState): void {
    const writer = this.#newWriter(state.reActContext.loop);
    if (this.#format.replacesMessages) writer.resume(state, this.#live.stream);
    else this.#join(writer, state);
  }

  /** Begins within a loop: after its turns, with the answer that is being written. */
  #join(writer: LoopWriter, state: AgentState): void {
    const { questions, draft } = this.#live.stream;
    this.#send(this.#translator.correction?.() ?? []);
    writer.skip(state, questions);
    writer.follow(state, draft);
  }

  /** Another process may have recorded inputs that this one has not seen one by one. */
  #replaced(): void {
    const view = this.#live.session.current();
    if (this.#writer === undefined && view.messages.some(({ id }) => id === this.#messageId))
      this.#newWriter(view.reActContext.loop);
    if (this.#output.isBehind) return;
    this.#dataChanged(view, undefined);
    this.#writer?.catchUp(view, this.#live.stream, !this.#isHeld);
    this.#output.available();
  }

  #dataChanged(state: AgentState, patches: readonly DataPatch[] | undefined): void {
    if (this.#writer === undefined || this.#writer.isEnded || this.#output.isBehind) return;
    this.#send(this.#translator.dataEvents?.(state, patches) ?? []);
  }

  #update(state: AgentState): void {
    if (!this.#output.isBehind) this.#writer?.update(state, this.#live.stream.questions, !this.#isHeld);
    this.#output.available();
  }

  #newWriter(loop: number): LoopWriter {
    const working = (): ReadonlySet<string> => this.#live.stream.working;
    this.#writer = new LoopWriter(loop, this.#user, working, (chunk) => this.#push(chunk));
    return this.#writer;
  }

  #push(chunk: UiChunk): void {
    const shown = chunk.type === "file" ? { ...chunk, url: this.#live.viewerUrl(chunk.url) } : chunk;
    this.#send(this.#translator.eventsOf(shown));
  }

  #send(events: readonly object[]): void {
    for (const event of events) this.#output.send(`data: ${JSON.stringify(event)}\n\n`);
  }

  get isOver(): boolean {
    return this.#writer?.isEnded === true || this.#live.isEnded;
  }

  catchUp(): void {
    this.#output.resume(() => this.#writeMissing(this.#live.session.current()));
  }

  #writeMissing(state: AgentState): void {
    this.#dataChanged(state, undefined);
    this.#writer?.catchUp(state, this.#live.stream, !this.#isHeld);
  }

  cut(): string | undefined {
    this.#writer?.cut(cutMessage, "unavailable");
    return this.#writer && this.#format.endText;
  }

  /** Reports that the reader has a loop, unless it may continue. */
  endText(): string {
    if (this.#writer?.isEnded !== true) return "";
    const { loop } = this.#writer;
    const state = this.#live.session.current();
    const isWhole = loop < state.reActContext.loop || !isResumable(state, this.#live.stream.questions);
    if (isWhole) this.#onWhole?.(loop);
    return this.#format.endText;
  }

  close(): void {
    this.#stopListening();
  }
}

/** The patches by which an input changes application data. Undefined without one, and for data of another version. */
function patchesOf(input: AgentInput): readonly DataPatch[] | undefined {
  if (!("patches" in input) || ("version" in input && input.version !== undefined)) return undefined;
  return input.patches;
}
