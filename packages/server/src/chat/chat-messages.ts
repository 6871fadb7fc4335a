import type { AgentMessage, ChatMessage } from "@moora/agent-webui-protocol";
import type { AgentState } from "@moora/agent";
import type { LiveSession } from "../sessions/live-session.ts";
import { conversationOf, isOver } from "./conversation.ts";
import { placeOf } from "./cut-answer.ts";
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
  /** The messages of the model, by their loop. */
  readonly #answers: ReadonlyMap<number | undefined, AgentMessage[]>;
  readonly #messages: ChatMessage[] = [];

  constructor(live: LiveSession, viewer: string) {
    this.#live = live;
    this.#viewer = viewer;
    this.#state = live.session.current();
    const { messages, transcript } = this.#state;
    const turns = transcript.filter((entry) => entry.type === "turn");
    this.#turns = Map.groupBy(turns, ({ loop }) => loop);
    this.#answers = Map.groupBy(messages, ({ id }) => placeOf(id)?.loop);
  }

  all(): readonly ChatMessage[] {
    const entries = [...conversationOf(this.#state)];
    const ends = new Map(entries.map(({ loop }, index) => [loop, index]));
    const newest = this.#state.reActContext.loop;
    for (const [index, entry] of entries.entries()) {
      if (entry.type === "user") this.#user(entry.message);
      else if (ends.get(entry.loop) === index && isOver(this.#state, entry.loop)) this.#loop(entry.loop);
    }
    if (!ends.has(newest) || !isOver(this.#state, newest)) this.#loop(newest);
    return this.#messages;
  }

  #user({ id, ...message }: AgentMessage): void {
    const { content, attachments = [] } = message;
    const files = attachments.map(({ mediaType, url, name }) => ({
      type: "file" as const,
      mediaType,
      url: this.#live.viewerUrl(url),
      ...(name === undefined ? {} : { filename: name }),
    }));
    const texts = content === "" ? [] : [{ type: "text" as const, text: content, state: "done" as const }];
    this.#messages.push({ id, role: "user", parts: [...files, ...texts] });
  }

  #loop(loop: number): void {
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
