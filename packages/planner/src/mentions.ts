/** What stands in quotation marks. */
export const quotes: RegExp = /"([^"]*)"|`([^`]*)`|(?<!\w)'([^']*)'(?!\w)/g;

/** A text with spaces in place of what it quotes. */
export const withoutQuotes = (text: string): string =>
  text.replaceAll(quotes, (quoted) => " ".repeat(quoted.length));

/** Numbers with operators between them. */
const sums =
  /(?:(?<![\d)%] *)-)?(?:sqrt)?[(\d][\d\s.,()]*%?(?:\s*[-+*/^×÷−%]\s*(?:sqrt)?[(\d][\d\s.,()]*%?)+/g;

/** The arithmetic of a text, with its places. "15% of 80" is a product. */
export const sumsIn = (text: string): readonly { readonly at: number; readonly text: string }[] =>
  [...text.replaceAll("% of ", "% *  ").matchAll(sums)].map(({ 0: sum, index }) => ({
    at: index,
    text: withoutEnd(sum).replace("*  ", "* "),
  }));

/** Without the punctuation and the parentheses that a sentence has after a sum. */
function withoutEnd(sum: string): string {
  const end = sum.replace(/[\s.,]+$/, "");
  return end.endsWith(")") && end.split(")").length > end.split("(").length
    ? withoutEnd(end.slice(0, -1))
    : end;
}

/** What a text mentions, by kind, in its order. Each is taken once. */
export interface Mentions {
  readonly quoted: string[];
  readonly sums: string[];
  /** Paths, addresses and patterns: words with a slash, a dot, an @ or a star in them. */
  readonly places: string[];
  readonly numbers: string[];
  /** Words in capital letters, except the first one of a sentence. */
  readonly names: string[];
  readonly words: ReadonlySet<string>;
}

export function mentionsIn(text: string): Mentions {
  const open = withoutQuotes(text);
  const pieces = open.split(/[\s,;()]+/).map((piece) => piece.replace(/[.:?!]+$/, ""));
  const places = pieces.filter((piece) => /[/.@*]/.test(piece) && /\p{L}/u.test(piece));
  const inner = open.replaceAll(/(?:^|[.!?]\s)\s*\p{Lu}[\p{L}']*/gu, " ");
  return {
    quoted: [...text.matchAll(quotes)].map(([, a, b, c]) => a ?? b ?? c ?? ""),
    sums: sumsIn(open).map((sum) => sum.text),
    places,
    numbers: open.match(/(?<![\w.-])-?\d[\d,]*(?:\.\d+)?(?![\w/-])/g) ?? [],
    names: (inner.match(/(?<![\p{L}/.@])\p{Lu}[\p{L}\d'-]*(?: \p{Lu}[\p{L}\d'-]*)*/gu) ?? []).filter(
      (name) => !places.some((place) => place.includes(name)),
    ),
    words: new Set(open.toLowerCase().split(/[^\p{L}\d]+/u)),
  };
}
