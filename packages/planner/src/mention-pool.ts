import type { Clause } from "./clause.ts";
import type { Field } from "./fields.ts";
import type { Mention, MentionKind } from "./mentions.ts";
import { counting, hints, distinctiveKinds } from "./roles.ts";
import { isStopWord, stemOf, wordsOf } from "./words.ts";

/** The mentions of a clause; each can be used once. */
export class MentionPool {
  readonly #clause: Clause;
  readonly #toolWords: ReadonlySet<string>;
  readonly #taken = new Set<Mention>();

  constructor(clause: Clause, toolWords: ReadonlySet<string>) {
    this.#clause = clause;
    this.#toolWords = toolWords;
  }

  take(...mentions: readonly Mention[]): void {
    for (const mention of mentions) this.#taken.add(mention);
  }

  /** Takes every mention that begins in this part of the text. */
  takeWithin(from: number, to: number): void {
    this.take(...this.#clause.mentions.filter(({ at }) => at >= from && at < to));
  }

  /** The remaining mentions of these kinds, in the order of the text. */
  left(...kinds: readonly MentionKind[]): readonly Mention[] {
    return this.#clause.mentions.filter((mention) => {
      if (!kinds.includes(mention.kind) || this.#taken.has(mention)) return false;
      return mention.kind !== "name" || this.#isProperName(mention);
    });
  }

  /** The number of remaining mentions with a distinctive form. */
  get distinctiveLeft(): number {
    return this.left(...distinctiveKinds).length;
  }

  /** The text, with blanks in place of the mentions that were taken. */
  get textLeft(): string {
    return [...this.#taken].reduce(
      (rest, { at, length }) => rest.slice(0, at) + " ".repeat(length) + rest.slice(at + length),
      this.#clause.text,
    );
  }

  /** A number next to a word of this argument: "5 seats", "order 7". */
  numberNear({ words, plain }: Field): Mention | undefined {
    const counts = plain.some((word) => counting.has(word));
    return this.left("number").find(({ before, after }) => {
      if ([before, after].some((word) => words.includes(stemOf(word)) || plain.includes(word))) return true;
      const isCount = ["first", "last", "top", "next", "newest", "latest"].includes(before);
      return counts && (isCount || wordsOf(after).some((word) => this.#toolWords.has(word)));
    });
  }

  /** A capital letter at the beginning of a sentence does not mark a name. */
  #isProperName({ text, at }: Mention): boolean {
    const [word = ""] = text.split(" ");
    const isAlone = text.length >= this.#clause.text.replace(/[\s.,;:?!]+$/, "").length;
    return !isStopWord(word) && (at > 0 || isAlone);
  }
}

/** Whether it follows a word that belongs to this argument: "to Oslo" for a destination. */
export const isHinted = ({ before }: Mention, { plain, words }: Field): boolean =>
  plain.includes(before) ||
  words.includes(stemOf(before)) ||
  plain.some((word) => hints.get(word)?.includes(before) === true);
