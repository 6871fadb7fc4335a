import type { UIMessage } from "ai";
import { answersIn, isOfAssistant } from "./answers.ts";

/** The answers of the user that a page has not posted yet, by the ids of their parts. */
export class PendingAnswers {
  #given: readonly string[] = [];
  /** Those of them that `useChat` is about to post. */
  #claimed: readonly string[] = [];
  /** Those whose post has begun. */
  #posting: readonly string[] = [];

  #adding = 0;

  /** Whether an answer is being added to the messages. */
  get isAdding(): boolean {
    return this.#adding > 0;
  }

  /** Adds an answer of the user to the messages: the id is that of its approval or of its call. */
  async give(id: string, add: () => void | PromiseLike<void>): Promise<void> {
    this.#given = [...this.#given.filter((given) => given !== id), id];
    this.#claimed = this.#claimed.filter((claimed) => claimed !== id);
    this.#adding += 1;
    try {
      await add();
    } finally {
      this.#adding -= 1;
    }
  }

  /** Takes the answers for a post. Returns whether one of them was not taken yet. */
  claim(messages: readonly UIMessage[]): boolean {
    const shown = answersIn(messages);
    const open = this.#given.filter((id) => shown.includes(id));
    const isNew = open.some((id) => !this.#claimed.includes(id));
    this.#claimed = open;
    return isNew;
  }

  /** The post of a message begins. What was taken for one of another message is open again. */
  begin(posted: UIMessage | undefined, messages: readonly UIMessage[]): void {
    this.#claimed = [];
    if (posted !== messages.findLast(isOfAssistant)) return;
    this.#posting = [...this.#posting, ...this.#given];
    this.#given = [];
  }

  /** The posts that have begun were taken, or have failed: then their answers are open again. */
  end(isFailed: boolean): void {
    if (isFailed) this.#given = [...new Set([...this.#posting, ...this.#given])];
    this.#posting = [];
  }
}
