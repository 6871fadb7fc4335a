/**
 * Whether a path fits a pattern of file names: `*` is any text within a name, `**` across folders too, `?` one
 * character. A pattern without "/" is held against the last name only. Takes time in proportion to both lengths.
 */
export function fitsNamePattern(pattern: string, path: string): boolean {
  const text = pattern.includes("/") ? path : path.slice(path.lastIndexOf("/") + 1);
  const pieces = pattern.match(/\*\*\/|\*\*|[^]/gu) ?? [];
  let reached = new Set([0]);
  for (const piece of pieces) reached = advanced(piece, text, reached);
  return reached.has(text.length);
}

/** The places in the text where a match can stand after one more piece of the pattern. */
function advanced(piece: string, text: string, from: ReadonlySet<number>): Set<number> {
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
