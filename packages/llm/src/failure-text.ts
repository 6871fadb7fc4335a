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
 * Replaces every secret in a text by `[secret]`, in its plain form and as it is encoded in a URL, a JSON string or base64, such as a
 * header of basic authentication. Secrets of up to three characters are left in: they would match parts of words.
 */
export const redactSecrets = (text: string, secrets: readonly string[]): string =>
  secrets
    .filter((secret) => secret.length > 3)
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret.toWellFormed()),
      JSON.stringify(secret).slice(1, -1),
      ...[0, 1, 2].flatMap((shift) => base64Forms(secret, shift)),
    ])
    .toSorted((a, b) => b.length - a.length)
    .reduce((pieces, secret) => pieces.flatMap((piece) => piece.split(secret)), [text])
    .join("[secret]");

/** Shorter forms could be parts of words. */
const minBase64Length = 8;

/** The characters that base64 has of a secret after this number of other bytes, whatever comes before and after it. */
function base64Forms(secret: string, shift: number): readonly string[] {
  const bytes = new TextEncoder().encode(" ".repeat(shift) + secret);
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  const form = text.slice(Math.ceil((shift * 8) / 6), Math.floor((bytes.length * 8) / 6));
  if (form.length < minBase64Length) return [];
  return [form, form.replaceAll("+", "-").replaceAll("/", "_")];
}
