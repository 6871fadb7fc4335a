/** The text, or its beginning with a mark that says how long the whole is. No character is cut in two. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const high = text.charCodeAt(most - 1);
  return marked(text, high >= 0xd800 && high <= 0xdbff ? most - 1 : most);
}

/** The same for a limit in bytes of UTF-8. The mark comes on top of it. */
export function shortenedToBytes(text: string, mostBytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(mostBytes));
  return read === text.length ? text : marked(text, read);
}

const marked = (text: string, end: number): string =>
  `${text.slice(0, end)}\n[cut: ${end} of ${text.length} characters shown]`;
