import type { AgentMessage, ChatMessage } from "@moora/agent-webui-protocol";
import type { AgentState } from "@moora/agent";
import type { LiveSession } from "../sessions/live-session.ts";
import { isResumable } from "./loop-end.ts";
import { cutAnswersOf, placeOf } from "./cut-answer.ts";
import type { Turn } from "./loop-turns.ts";
import { LoopWriter } from "./loop-writer.ts";
import { UiMessageTranslator } from "./ui-message-format.ts";
import { UiMessage } from "./ui-message.ts";

/**
 * The messages of a session as a page shows them: those of the user, and one for each loop that has written something, after the messages
 * that it has read. The newest one has the text that is being streamed, and is the last one while its loop works or waits. `user` is the one
 * who reads them.
 */
export const chatMessagesOf = (live: LiveSession, user: string): readonly ChatMessage[] =>
  new ChatMessages(live, user).all();

class ChatMessages {
  readonly #live: LiveSession;
  readonly #viewer: string;
  readonly #state: AgentState;
  readonly #turns: ReadonlyMap<number, readonly Turn[]>;
  /** The messages of the session with their positions. */
  readonly #positions: ReadonlyMap<string, { readonly message: AgentMessage; readonly position: number }>;
  /** The messages of the model, by their loop. */
  readonly #answers: ReadonlyMap<number | undefined, AgentMessage[]>;
  /** The answers that were cut off and that no turn has, by their loop. */
  readonly #cut: ReturnType<typeof cutAnswersOf>;
  readonly #messages: ChatMessage[] = [];
  readonly #written = new Set<number>();

  constructor(live: LiveSession, viewer: string) {
    this.#live = live;
    this.#viewer = viewer;
    this.#state = live.session.current();
    const { messages, transcript } = this.#state;
    this.#positions = new Map(messages.map((message, position) => [message.id, { message, position }]));
    const turns = transcript.filter((entry) => entry.type === "turn");
    this.#turns = Map.groupBy(turns, ({ loop }) => loop);
    this.#answers = Map.groupBy(messages, ({ id }) => placeOf(id)?.loop);
    this.#cut = cutAnswersOf(this.#state);
  }

  all(): readonly ChatMessage[] {
    const { transcript, reActContext } = this.#state;
    for (const entry of [...transcript, ...reActContext.queued]) {
      if (entry.type === "turn" && this.#isEndOfLoop(entry)) this.#loop(entry.loop);
      else if (entry.type === "message") this.#user(entry.messageId);
    }
    for (const loop of this.#cut.keys()) this.#loop(loop);
    this.#loop(reActContext.loop);
    return this.#messages;
  }

  /** Whether a turn is the last thing that its loop has written. */
  #isEndOfLoop(turn: Turn): boolean {
    const { loop } = turn;
    return !this.#cut.has(loop) && this.#turns.get(loop)?.at(-1) === turn && this.#isOver(loop);
  }

  /** Whether a loop has ended, so that it reads no further message. */
  #isOver(loop: number): boolean {
    return loop < this.#state.reActContext.loop || !isResumable(this.#state, this.#live.stream.questions);
  }

  #user(messageId: string): void {
    const { message, position } = this.#positions.get(messageId) ?? {};
    if (message === undefined || position === undefined) return;
    for (const [loop, cut] of this.#cut) if (cut.position < position && this.#isOver(loop)) this.#loop(loop);
    const { content, attachments = [] } = message;
    const files = attachments.map(({ mediaType, url, name }) => ({
      type: "file" as const,
      mediaType,
      url: this.#live.viewerUrl(url),
      ...(name === undefined ? {} : { filename: name }),
    }));
    const texts = content === "" ? [] : [{ type: "text" as const, text: content, state: "done" as const }];
    this.#messages.push({ id: messageId, role: "user", parts: [...files, ...texts] });
  }

  #loop(loop: number): void {
    if (this.#written.has(loop)) return;
    this.#written.add(loop);
    // A loop that was tried again is before that.
    for (const before of this.#cut.keys()) if (before < loop) this.#loop(before);
    const isNewest = loop === this.#state.reActContext.loop;
    const translator = new UiMessageTranslator(this.#live.ref.id, this.#live.toolParts);
    const message = new UiMessage(`loop_${loop}`, { session: this.#live.ref.id });
    const working = (): ReadonlySet<string> => this.#live.stream.working;
    const writer = new LoopWriter(loop, this.#viewer, working, (chunk) => {
      const shown = chunk.type === "file" ? { ...chunk, url: this.#live.viewerUrl(chunk.url) } : chunk;
      for (const event of translator.eventsOf(shown)) message.write(event);
    });
    const transcript = [...(this.#turns.get(loop) ?? [])];
    const state = { ...this.#state, transcript, messages: this.#answers.get(loop) ?? [] };
    writer.resume(state, isNewest ? this.#live.stream : { questions: [], draft: undefined });
    if (!message.isEmpty) this.#messages.push(message.toMessage());
  }
}
