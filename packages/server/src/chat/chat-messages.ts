import type { AgentMessage, ChatMessage } from "@moora/agent-webui-protocol";
import type { AgentState } from "@moora/agent";
import type { LiveSession } from "../sessions/live-session.ts";
import { LoopWriter } from "./loop-writer.ts";
import { UiMessageTranslator } from "./ui-message-format.ts";
import { UiMessage } from "./ui-message.ts";

type Turn = Extract<AgentState["transcript"][number], { type: "turn" }>;

/**
 * The messages of a session as a page shows them: those of the user, and one for each loop that has written something, at the place
 * where it began to write. The newest one has the text that is being streamed. `user` is the one who reads them.
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
  /** By its loop, an answer that was cut off and that no turn has. */
  readonly #cut: ReadonlyMap<number, AgentMessage>;
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
    this.#cut = cutAnswers(messages, new Set(turns.map(({ messageId }) => messageId)));
  }

  all(): readonly ChatMessage[] {
    const { transcript, reActContext } = this.#state;
    for (const entry of [...transcript, ...reActContext.queued]) {
      if (entry.type === "turn") this.#loop(entry.loop);
      else if (entry.type === "message") this.#user(entry.messageId);
    }
    for (const loop of this.#cut.keys()) this.#loop(loop);
    this.#loop(reActContext.loop);
    return this.#messages;
  }

  #user(messageId: string): void {
    const { message, position } = this.#positions.get(messageId) ?? {};
    if (message === undefined || position === undefined) return;
    for (const [loop, { id }] of this.#cut)
      if ((this.#positions.get(id)?.position ?? position) < position) this.#loop(loop);
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
    const { questions, streaming } = this.#live.stream;
    const isNewest = loop === this.#state.reActContext.loop;
    const translator = new UiMessageTranslator(this.#live.ref.id);
    const message = new UiMessage(`loop_${loop}`, { session: this.#live.ref.id });
    const writer = new LoopWriter(loop, this.#viewer, (chunk) => {
      const shown = chunk.type === "file" ? { ...chunk, url: this.#live.viewerUrl(chunk.url) } : chunk;
      for (const event of translator.eventsOf(shown)) message.write(event);
    });
    const state = { ...this.#state, transcript: [...(this.#turns.get(loop) ?? [])] };
    writer.resume(state, isNewest ? questions : [], isNewest ? streaming : null);
    const cut = isNewest && streaming !== null ? undefined : this.#cut.get(loop);
    if (cut !== undefined) message.addText(cut.content);
    if (!message.isEmpty) this.#messages.push(message.toMessage());
  }
}

/** By its loop, the newest answer, if it was cut off and none of these turns has it. */
function cutAnswers(
  messages: readonly AgentMessage[],
  turns: ReadonlySet<string | null>,
): ReadonlyMap<number, AgentMessage> {
  const newest = new Map<number, AgentMessage>();
  for (const message of messages) {
    const [, loop] = /^msg_(\d+)_/.exec(message.id) ?? [];
    if (message.role === "assistant" && loop !== undefined) newest.set(Number(loop), message);
  }
  const isCut = ({ id, status, content }: AgentMessage): boolean =>
    status === "cut" && content !== "" && !turns.has(id);
  return new Map([...newest].filter(([, message]) => isCut(message)));
}
