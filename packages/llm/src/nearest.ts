/** The maximum length of words that are compared. A longer one is not a misspelled name. */
const maxLength = 40;

/** The known name that is closest to a misspelled one, of several the shortest; undefined if none is close enough. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((candidate) => ({ candidate, distance: distanceBetween(word, candidate) }))
    .toSorted((a, b) => a.distance - b.distance || a.candidate.length - b.candidate.length);
  const [best] = ranked;
  const isClose =
    best !== undefined &&
    best.distance <= Math.max(2, word.length / 3) &&
    best.distance < best.candidate.length;
  return isClose ? best.candidate : undefined;
}

/** The text ` Did you mean "refund"?` with the nearest known name, to append to an error message; "" if there is none. */
export function didYouMean(word: string, known: readonly string[]): string {
  const meant = nearest(word, known);
  return meant === undefined ? "" : ` Did you mean "${meant}"?`;
}

/** The hint for an unknown option: the nearest known name, otherwise all of them. `aliases`: names that other libraries use. */
export function optionHint(
  option: string,
  known: readonly string[],
  aliases: Readonly<Record<string, string>> = {},
): string {
  if (Object.hasOwn(aliases, option)) return ` Did you mean "${aliases[option]}"?`;
  return didYouMean(option, known) || ` Known options: ${known.join(", ")}.`;
}

/** Letters to insert, delete or change (Levenshtein), whatever their case; the beginning of a name is close to it. */
function distanceBetween(word: string, candidate: string): number {
  const from = word.toLowerCase();
  const to = candidate.toLowerCase();
  if (from.length > 2 && to.startsWith(from)) return 1;
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let at = 0; at < Math.min(from.length, maxLength); at += 1) {
    const next = [at + 1];
    for (let index = 1; index < row.length; index += 1) {
      const [diagonal = 0, above = 0] = row.slice(index - 1, index + 1);
      const changed = diagonal + Number(from[at] !== to[index - 1]);
      next.push(Math.min(changed, above + 1, (next[index - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
