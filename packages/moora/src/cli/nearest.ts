/** The known word that somebody probably meant, undefined when none is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((candidate) => ({ candidate, distance: distanceBetween(word, candidate) }))
    .toSorted((a, b) => a.distance - b.distance);
  const [best] = ranked;
  const isNear =
    best !== undefined &&
    best.distance <= Math.max(2, word.length / 3) &&
    best.distance < best.candidate.length;
  return isNear ? best.candidate : undefined;
}

/** How many letters have to be put in, left out or changed; a beginning of a word is near to it. */
function distanceBetween(word: string, candidate: string): number {
  if (word.length > 2 && candidate.startsWith(word)) return 1;
  let row = Array.from({ length: candidate.length + 1 }, (_, index) => index);
  for (let at = 0; at < Math.min(word.length, 40); at += 1) {
    const next = [at + 1];
    for (let index = 1; index < row.length; index += 1) {
      const [diagonal = 0, above = 0] = row.slice(index - 1, index + 1);
      const changed = diagonal + Number(word[at] !== candidate[index - 1]);
      next.push(Math.min(changed, above + 1, (next[index - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
