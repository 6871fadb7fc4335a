/**
 * Whether a path matches a file name pattern: `*` is any text within a name, `**` also across folders, `?` one character.
 * A pattern without "/" is compared with the last name only. The time is proportional to the product of both lengths.
 */
export function matchesNamePattern(pattern: string, path: string): boolean {
  const text = pattern.includes("/") ? path : path.slice(path.lastIndexOf("/") + 1);
  const pieces = pattern.match(/\*\*\/|\*\*|[^]/gu) ?? [];
  let reached = new Set([0]);
  for (const piece of pieces) reached = advance(piece, text, reached);
  return reached.has(text.length);
}

/** The positions in the text that a match can reach after one more piece of the pattern. */
function advance(piece: string, text: string, from: ReadonlySet<number>): Set<number> {
  const reached = new Set<number>();
  if (piece !== "*" && piece !== "**" && piece !== "**/") {
    for (const at of from) {
      const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
      const fits = at < text.length && (piece === "?" ? character !== "/" : character === piece);
      if (fits) reached.add(at + character.length);
    }
    return reached;
  }
  let isOpen = false;
  for (let at = 0; at <= text.length; at += 1) {
    if (from.has(at)) {
      isOpen = true;
      reached.add(at);
    } else if (isOpen && (piece !== "**/" || text[at - 1] === "/")) reached.add(at);
    if (piece === "*" && text[at] === "/") isOpen = false;
  }
  return reached;
}
