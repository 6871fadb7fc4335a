import { mentionsOf, type Mention } from "./mentions.ts";
import { plainWords, wordsOf } from "./words.ts";

/** One piece of work that a request asks for. */
export interface Clause {
  readonly text: string;
  readonly mentions: readonly Mention[];
  /** The stems of the words that are not stop words. */
  readonly words: ReadonlySet<string>;
  /** All words, in lower case. */
  readonly plain: ReadonlySet<string>;
  /** Whether it has to wait for the clause before it: "and then". */
  readonly isLater: boolean;
}

export const clauseOf = (text: string, isLater: boolean = false): Clause => ({
  text,
  mentions: mentionsOf(text),
  words: new Set(wordsOf(text)),
  plain: new Set(plainWords(text)),
  isLater,
});

/** Whether it refers to an earlier result: "read it", "the first of them". */
export const refersBack = ({ text }: Clause): boolean =>
  /\b(?:it|its|them|those|these|that|this|each|the (?:first|second|third|last|result|results|same))\b/i.test(
    text,
  );
