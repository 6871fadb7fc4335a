import { Lexer, type Token, type TokensList } from "marked";

/** The longest text that is read as Markdown, and the longest paragraph: the time to read them grows with their squares. */
const longestText = 40_000;
const longestRun = 10_000;
/** How deep blocks are nested in blocks, and emphasis and links in each other. */
const deepest = 20;
/** How much is read again and again, in characters: by nesting, by cells that a table adds, and by addresses that links share. */
const mostWork = 500_000;
const workOfRun = 20;

/** The tokens of a text of Markdown; undefined if it is too long, too deeply nested or too costly to be read as such. */
export function tokensOf(text: string): readonly Token[] | undefined {
  if (text.length > longestText) return undefined;
  try {
    return new BoundedLexer().lex(text);
  } catch {
    // A limit of the lexer below, or one of the stack.
    return undefined;
  }
}

/** A lexer that throws at a text that would take it long, or would overflow its stack. */
class BoundedLexer extends Lexer {
  #depth = 0;
  #work = 0;

  override blockTokens(src: string, tokens?: Token[], lastParagraphClipped?: boolean): Token[];
  override blockTokens(src: string, tokens?: TokensList, lastParagraphClipped?: boolean): TokensList;
  override blockTokens(src: string, tokens?: Token[], lastParagraphClipped?: boolean): Token[] {
    return this.#nested(src, () => super.blockTokens(src, tokens, lastParagraphClipped));
  }

  override inlineTokens(src: string, tokens?: Token[]): Token[] {
    if (src.length > longestRun) throw new RangeError("A paragraph is too long.");
    const read = this.#nested(src, () => super.inlineTokens(src, tokens));
    for (const token of read) if ("href" in token) this.#spend(token.href.length);
    return read;
  }

  override inline(src: string, tokens?: Token[]): Token[] {
    this.#spend(workOfRun);
    return super.inline(src, tokens);
  }

  #nested<Result>(src: string, read: () => Result): Result {
    this.#spend(src.length);
    if (this.#depth === deepest) throw new RangeError("The text is nested too deeply.");
    this.#depth += 1;
    const result = read();
    this.#depth -= 1;
    return result;
  }

  #spend(work: number): void {
    this.#work += work;
    if (this.#work > mostWork) throw new RangeError("The text is too costly.");
  }
}
