/** What a search compares of a tool, beside its name. */
export interface SearchedTool {
  readonly formerNames?: readonly string[];
  readonly description: string;
}

/** Characters of a query and of a description that are read. */
const maxRead = 2_000;
/** Words of a query that are compared. */
const maxWords = 32;

/** The parts of a word: each character of scripts without spaces between words, and what is between them. */
const parts =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;

/** The words of a text, in lower case. Where a script has no spaces, these are the characters and their pairs. */
function wordsOf(text: string): readonly string[] {
  const plain = text.slice(0, maxRead).normalize("NFKC");
  const split = plain.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, " ").toLowerCase();
  const words = [...split.matchAll(/[\p{L}\p{M}\p{N}]+/gu)].flatMap(([word]) => {
    const found = word.match(parts) ?? [];
    return [...found, ...found.slice(1).map((part, index) => `${found[index]}${part}`)];
  });
  return [...new Set(words)];
}

/** Whether two words are equal but for a short ending: `order` and `orders`. */
function isSameWord(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  if (short.length < 4 || long.length - short.length > 3) return a === b;
  return long.startsWith(short);
}

const hasWord = (words: readonly string[], word: string): boolean =>
  words.some((other) => isSameWord(other, word));

interface IndexedTool {
  readonly name: string;
  readonly description: string;
  readonly names: readonly string[];
  readonly inName: readonly string[];
  readonly inText: readonly string[];
}

type SearchedTools = Readonly<Record<string, SearchedTool>>;

/** The words of the tools of a state: they are immutable, and a conversation searches them many times. */
const indexes = new WeakMap<SearchedTools, readonly IndexedTool[]>();

function indexed(tools: SearchedTools): readonly IndexedTool[] {
  const known = indexes.get(tools);
  if (known !== undefined) return known;
  const index = Object.entries(tools).map(([name, { formerNames = [], description }]) => {
    const names = [name, ...formerNames];
    return { name, description, names, inName: wordsOf(names.join(" ")), inText: wordsOf(description) };
  });
  indexes.set(tools, index);
  return index;
}

/**
 * The tools that fit a query best of those with these names, the best first. A word counts three times in a name and once in a description,
 * and less the more tools have it. A tool whose name the query has is the first of equals; else their order is that of the names. What is less
 * than a third as good as the best does not fit. Of a query the first 32 words count.
 */
export function searchTools(
  tools: SearchedTools,
  usable: ReadonlySet<string>,
  query: string,
  most: number,
): readonly Pick<IndexedTool, "name" | "description">[] {
  const named = new Set(query.split(/[^\w-]+/));
  const rated = indexed(tools)
    .filter(({ name }) => usable.has(name))
    .map((tool) => ({ ...tool, score: tool.names.some((name) => named.has(name)) ? 1 : 0 }));
  for (const word of wordsOf(query).slice(0, maxWords)) {
    const matches = rated.map(
      (it) => 3 * Number(hasWord(it.inName, word)) + Number(hasWord(it.inText, word)),
    );
    const weight = 1 / Math.sqrt(Math.max(1, matches.filter((match) => match > 0).length));
    for (const [index, it] of rated.entries()) it.score += (matches[index] ?? 0) * weight;
  }
  const best = Math.max(0, ...rated.map(({ score }) => score));
  return rated
    .filter(({ score }) => score > 0 && score >= best / 3)
    .toSorted((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
    .slice(0, most);
}
