/** The maximum length of a failure's message, in bytes of UTF-8. */
export const maxMessageBytes = 2048;

/** The beginning of a text, in at most this many bytes of UTF-8. No character is cut in two. */
export function truncatedToBytes(text: string, limitBytes: number = maxMessageBytes): string {
  // A UTF-16 unit takes at most three bytes, so most texts need no counting.
  if (text.length * 3 <= limitBytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(limitBytes));
  return read === text.length ? text : text.slice(0, read);
}

/**
 * Replaces every secret in a text by `[secret]`, in its plain form and as it is encoded in a URL or a JSON string. Secrets
 * of up to three characters are left in: they would match parts of words.
 */
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
