/** Returns the known name that a misspelled one most likely means; undefined if none is close. */
export const nearestName = (name: string, known: readonly string[]): string | undefined =>
  known
    .map((candidate) => ({ candidate, distance: distanceBetween(name.slice(0, 40), candidate) }))
    .filter(({ candidate, distance }) => distance <= Math.max(2, candidate.length / 3))
    .toSorted((a, b) => a.distance - b.distance)[0]?.candidate;

/**
 * The number of letters to insert, delete or change (Levenshtein); upper case and lower case are equal. Names that begin alike
 * are close, such as `durable` and `durability`.
 */
function distanceBetween(name: string, candidate: string): number {
  const [from, to] = [name.toLowerCase(), candidate.toLowerCase()];
  const distance = levenshtein(from, to);
  return from.slice(0, 4).length === 4 && to.startsWith(from.slice(0, 4)) ? Math.min(distance, 2) : distance;
}

function levenshtein(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of Array.from(from).entries()) {
    const next = [index + 1];
    for (const [at, other] of Array.from(to).entries()) {
      const changed = (row[at] ?? 0) + Number(letter !== other);
      next.push(Math.min(changed, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
