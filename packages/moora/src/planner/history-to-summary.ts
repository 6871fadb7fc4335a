/** Characters of a whole summary, and of one entry in it. */
const maxLength = 3_000;
const maxEntryLength = 400;

/** A paragraph of what a history says, by quoting the beginning of each of its entries. */
export function historyToSummary(text: string): string {
  const at = text.indexOf("\n\nHistory:");
  const history = at === -1 ? text : text.slice(at + "\n\nHistory:".length);
  const entries = history
    .split("\n\n")
    .map((entry) => entry.replaceAll(/\s+/g, " ").trim())
    .filter((entry) => entry !== "")
    .map((entry) => (entry.length > maxEntryLength ? `${entry.slice(0, maxEntryLength)}...` : entry));
  const whole = entries.join(" ");
  return (whole.length > maxLength ? `${whole.slice(0, maxLength)}...` : whole).toWellFormed();
}
