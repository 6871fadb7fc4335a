/** Words that do not distinguish tools. */
const stopWords = new Set(
  (
    "a about all also am an and any are as at be been being both but by can could did do does doing each every for " +
    "from get give had has have he her here his how i if in into is it its just let like may me might more most my " +
    "no not now of off on only or our out over please put she should show so some such take tell than that the their " +
    "them then there these they this those to too up us use using very want was we were what when where which while " +
    "who whom why will with would you your much many say says said know make need help thing way one ones first second third last"
  ).split(" "),
);

/** Words that users treat as synonyms in requests. Each row is replaced by its first word. */
const synonyms: readonly string[] = [
  "read open cat view print display",
  "search find grep look locate occurrence",
  "list ls enumerate",
  "folder directory dir",
  "calculate compute evaluate calculator calculation arithmetic math sum",
  "fetch download retrieve",
  "page site website webpage web",
  "time clock hour date day today weekday",
  "delete remove erase",
  "create new write",
  "send mail message notify",
  "weather forecast temperature",
];

/** The stem of a word, without English endings, for comparisons. */
export function stemOf(word: string): string {
  let stem = word.toLowerCase();
  if (stem.length > 4) stem = stem.replace(/(?:ly|'s)$/, "");
  if (stem.length > 3) stem = stem.replace(/ies$/, "y").replace(/(?<=sh|ch|x|z|s)es$/, "");
  if (stem.length > 3) stem = stem.replace(/(?<!s|u|i)s$/, "");
  if (stem.length > 5) stem = stem.replace(/(?:ing|ed|or)$/, "");
  if (stem.length > 3) stem = stem.replace(/e$/, "").replace(/([^aeiou\d])\1$/, "$1");
  return stem;
}

const canonical: ReadonlyMap<string, string> = new Map(
  synonyms.flatMap((row) => {
    const words = row.split(" ").map(stemOf);
    return words.map((word) => [word, words[0] ?? word] as const);
  }),
);

/** All words of a text, in order and in lower case; names in camel case or snake case are several words. */
export const plainWords = (text: string): readonly string[] =>
  text
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? [];

/** The stems of the words that are not stop words. */
export const wordsOf = (text: string): readonly string[] =>
  plainWords(text)
    .filter((word) => !stopWords.has(word) && /\p{L}\p{L}|\p{Lo}/u.test(word))
    .map(stemOf)
    .map((stem) => canonical.get(stem) ?? stem);

export const isStopWord = (word: string): boolean => stopWords.has(word.toLowerCase());
