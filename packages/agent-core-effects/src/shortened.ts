/** The text, or its beginning with a mark that says how long the whole is. No character is cut in two. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const high = text.charCodeAt(most - 1);
  const end = high >= 0xd800 && high <= 0xdbff ? most - 1 : most;
  return `${text.slice(0, end)}\n[cut: ${end} of ${text.length} characters shown]`;
}
