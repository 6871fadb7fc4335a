import type { UseChatHelpers } from "@ai-sdk/react";
import type { UIMessage } from "ai";
import { isOfAssistant, isUnfinished } from "./answers.ts";
import { postAnswers, type AgentChatAddress } from "./chat-requests.ts";
import type { PendingAnswers } from "./pending-answers.ts";
import { readAgentChat } from "./read-agent-chat.ts";

/** What a page does beside `useChat`: it posts answers that `useChat` does not post, and reads what others have decided. */
export class ChatPage<Message extends UIMessage> {
  readonly #address: AgentChatAddress;
  readonly #answers: PendingAnswers;
  readonly #chat: () => UseChatHelpers<Message>;

  constructor(address: AgentChatAddress, answers: PendingAnswers, chat: () => UseChatHelpers<Message>) {
    this.#address = address;
    this.#answers = answers;
    this.#chat = chat;
  }

  /** Adds an answer to a question. `useChat` posts it only where the page makes no request and has not stopped the message. */
  async give(id: string, add: () => void | PromiseLike<void>): Promise<void> {
    await this.#answers.give(id, add);
    // A post of `useChat` has begun by then.
    await nextTask();
    this.#chat().setMessages((messages) => {
      void this.#postBeside(messages);
      return messages;
    });
  }

  /** Whether `useChat` posts answers: after an answer of the user, or at the end of a stream that was not stopped and has not failed. */
  posts(messages: readonly Message[]): boolean {
    void this.#update(messages.filter(isOfAssistant).slice(0, -1));
    const newest = messages.at(-1);
    if (this.#answers.isAdding || (newest && isOfAssistant(newest)))
      return this.#answers.openIn(messages).length > 0;
    // At the end of a stream, `useChat` would post the newest message, which has no answers.
    void this.#postBeside(messages);
    return false;
  }

  /** A request of `useChat` has ended, with its stream. */
  ended(messages: readonly Message[], { isAbort, isError }: { isAbort: boolean; isError: boolean }): void {
    this.#answers.isReading = false;
    this.#answers.end(isError || isAbort);
    if (isAbort) void this.#postBeside(messages);
    // After an error, the newest one as well: its stream was cut off, or its answer was refused and its question is open. A refused
    // regenerate() or edit has removed messages.
    if (isAbort || isError) void this.#update(isError ? messages : messages.slice(0, -1), isError);
    else void this.#catchUp();
  }

  /** Posts the answers that `useChat` does not post, and shows what follows. */
  async #postBeside(messages: readonly Message[]): Promise<void> {
    if (this.#answers.openIn(messages).length === 0) return;
    this.#answers.begin(messages.findLast(isOfAssistant), messages);
    const isPosted = await postAnswers(this.#address, messages).then(
      () => true,
      () => false,
    );
    this.#answers.end(!isPosted);
    this.#answers.isBehind ||= isPosted;
    await this.#catchUp();
  }

  /** Shows what follows answers that were posted beside a stream, as soon as the page reads none. */
  async #catchUp(): Promise<void> {
    // `useChat` is ready after the end of its stream.
    await nextTask();
    if (!this.#answers.isBehind || this.#answers.isReading) return;
    this.#answers.isBehind = false;
    let shown: readonly Message[] = [];
    this.#chat().setMessages((messages) => [...(shown = messages)]);
    await this.#chat().resumeStream();
    // The stream has nothing of an answer whose end another page has read.
    await this.#update(shown.filter(isOfAssistant).slice(-1));
  }

  /** Reads what became of messages: their questions may have been decided elsewhere. `mayLack`: the page may have removed or edited others. */
  async #update(given: readonly Message[], mayLack = false): Promise<void> {
    const ids = new Set(given.filter(isUnfinished).map((message) => message.id));
    if (ids.size === 0 && !mayLack) return;
    const read = await readAgentChat<Message>(this.#address).catch(() => ({ messages: [] }));
    this.#chat().setMessages((shown) => updated(shown, read.messages, { ids, mayLack }));
  }
}

/** Waits until everything that is due now has run. */
const nextTask = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** What a page shows after the messages of these ids were read again. */
function updated<Message extends UIMessage>(
  shown: readonly Message[],
  read: readonly Message[],
  { ids, mayLack }: { readonly ids: ReadonlySet<string>; readonly mayLack: boolean },
): Message[] {
  const byId = new Map(read.map((message) => [message.id, message]));
  const current = shown.map((message) => (ids.has(message.id) ? (byId.get(message.id) ?? message) : message));
  if (!mayLack) return current;
  // An edited message was refused: those of the user are shown as the server has them.
  const own = new Map(current.filter(isOfAssistant).map((message) => [message.id, message]));
  const others = current.filter((message) => !byId.has(message.id));
  return [...read.map((message) => own.get(message.id) ?? message), ...others];
}
