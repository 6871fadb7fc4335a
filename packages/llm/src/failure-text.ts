/** The longest message of a failure, in bytes of UTF-8. */
export const maxMessageBytes = 2048;

/** A text of at most so many bytes of UTF-8, cut between characters. */
export function truncatedToBytes(text: string, limitBytes: number = maxMessageBytes): string {
  // A UTF-16 unit takes at most three bytes, so most texts need no counting.
  if (text.length * 3 <= limitBytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(limitBytes));
  return read === text.length ? text : text.slice(0, read);
}

/** The text without any of the secrets, as they are and as they look inside a URL or a JSON string. */
export const redactSecrets = (text: string, secrets: readonly string[]): string =>
  secrets
    .filter((secret) => secret.length > 3)
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret.toWellFormed()),
      JSON.stringify(secret).slice(1, -1),
    ])
    .toSorted((a, b) => b.length - a.length)
    .reduce((pieces, secret) => pieces.flatMap((piece) => piece.split(secret)), [text])
    .join("[secret]");
