import { Chat } from "@ai-sdk/react";
import type { UIMessage } from "ai";
import { isOfAssistant, isUnfinished } from "./answers.ts";
import { postAnswers, transportTo, type AgentChatOptions } from "./chat-requests.ts";
import { PendingAnswers } from "./pending-answers.ts";
import { readAgentChat } from "./read-agent-chat.ts";

/** A chat in a page, which also posts the answers that its `Chat` does not post, and reads what others have decided. */
export class ChatPage<Message extends UIMessage> {
  readonly chat: Chat<Message>;
  /** Those of the newest rendering of this chat. */
  options: AgentChatOptions<Message>;
  /** Whether it is shown no more. It posts the answers that were given, and reads nothing of what follows. */
  isLeft = false;
  readonly #answers = new PendingAnswers();
  /** Whether an answer was posted beside the stream of the chat, so that what follows may not be in that stream. */
  #isBehind = false;

  constructor(options: AgentChatOptions<Message>) {
    this.options = options;
    this.chat = new Chat<Message>({
      ...options,
      transport: transportTo(
        () => this.options,
        (posted, messages) => this.#answers.begin(posted, messages),
      ),
      sendAutomaticallyWhen: ({ messages }) => this.#posts(messages),
      onFinish: (end) => {
        this.#ended(end);
        this.options.onFinish?.(end);
      },
      onError: (error) => this.options.onError?.(error),
      onData: (part) => this.options.onData?.(part),
      onToolCall: (call) => this.options.onToolCall?.(call),
    });
  }

  /** Adds an answer to a question. The chat posts it only where it makes no request and was not stopped. */
  async give(id: string, add: () => void | PromiseLike<void>): Promise<void> {
    await this.#answers.give(id, add);
    // A post of the chat has begun by then.
    await nextTask();
    void this.#postBeside();
  }

  /** Whether the chat posts answers: after an answer of the user, or at the end of a stream that was not stopped and has not failed. */
  #posts(messages: readonly Message[]): boolean {
    void this.#update(messages.filter(isOfAssistant).slice(0, -1));
    const newest = messages.at(-1);
    if (this.#answers.isAdding || (newest && isOfAssistant(newest)))
      return this.#answers.openIn(messages).length > 0;
    // At the end of a stream, the chat would post the newest message, which has no answers.
    void this.#postBeside();
    return false;
  }

  /** A request of the chat has ended, with its stream. */
  #ended({ messages, isAbort, isError }: ChatEnd<Message>): void {
    this.#answers.end(isError || isAbort);
    if (isAbort) void this.#postBeside();
    // After an error, the newest one as well: its stream was cut off, or its answer was refused and its question is open. A refused
    // regenerate() or edit has removed messages.
    if (isAbort || isError) void this.#update(isError ? messages : messages.slice(0, -1), isError);
    else void this.#catchUp();
  }

  /** Posts the answers that the chat does not post, and shows what follows. */
  async #postBeside(): Promise<void> {
    const { messages } = this.chat;
    if (this.#answers.openIn(messages).length === 0) return;
    this.#answers.begin(messages.findLast(isOfAssistant), messages);
    const isPosted = await postAnswers(this.options, messages).then(
      () => true,
      () => false,
    );
    this.#answers.end(!isPosted);
    this.#isBehind ||= isPosted;
    await this.#catchUp();
  }

  /** Shows what follows answers that were posted beside a stream, as soon as the chat reads none. */
  async #catchUp(): Promise<void> {
    // The chat is ready after the end of its stream.
    await nextTask();
    const { status, messages } = this.chat;
    if (this.isLeft || !this.#isBehind || status === "submitted" || status === "streaming") return;
    this.#isBehind = false;
    await this.chat.resumeStream();
    // The stream has nothing of an answer whose end another page has read.
    await this.#update(messages.filter(isOfAssistant).slice(-1));
  }

  /** Reads what became of messages: their questions may have been decided elsewhere. `mayLack`: the page may have removed or edited others. */
  async #update(given: readonly Message[], mayLack = false): Promise<void> {
    const ids = new Set(given.filter(isUnfinished).map((message) => message.id));
    if (ids.size === 0 && !mayLack) return;
    const read = await readAgentChat<Message>(this.options).catch(() => ({ messages: [] }));
    this.chat.messages = updated(this.chat.messages, read.messages, { ids, mayLack });
  }
}

/** How a request of a chat has ended. */
type ChatEnd<Message extends UIMessage> = Parameters<NonNullable<AgentChatOptions<Message>["onFinish"]>>[0];

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
