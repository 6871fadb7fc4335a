import type { UIMessage } from "ai";
import { answersIn, isOfAssistant } from "./answers.ts";

/** The answers of the user that a page has not posted yet, by the ids of their parts. */
export class PendingAnswers {
  #given: readonly string[] = [];
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
    this.#adding += 1;
    try {
      await add();
    } finally {
      this.#adding -= 1;
    }
  }

  /** The answers in these messages whose post has not begun. */
  openIn(messages: readonly UIMessage[]): readonly string[] {
    const shown = answersIn(messages);
    return this.#given.filter((id) => shown.includes(id));
  }

  /** The post of a message begins, with the answers in it. */
  begin(posted: UIMessage | undefined, messages: readonly UIMessage[]): void {
    if (posted !== messages.findLast(isOfAssistant)) return;
    const begun = this.openIn(messages);
    this.#posting = [...this.#posting, ...begun];
    this.#given = this.#given.filter((id) => !begun.includes(id));
  }

  /** The posts that have begun were taken, or may have failed: then their answers are open again. */
  end(isFailed: boolean): void {
    if (isFailed) this.#given = [...new Set([...this.#posting, ...this.#given])];
    this.#posting = [];
  }
}
