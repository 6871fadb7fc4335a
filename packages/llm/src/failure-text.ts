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
 * The forms of secrets in a text, the longest first: as they are, as they are decoded from a URL, encoded in a URL or a JSON string, and in
 * base64, such as in a header of basic authentication. Those of up to three characters are left out: they would match parts of words.
 */
export function secretForms(secrets: readonly string[]): readonly string[] {
  const forms = secrets
    .flatMap((secret) => [secret, decoded(secret)])
    .filter((secret) => secret.length > 3)
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret.toWellFormed()),
      JSON.stringify(secret).slice(1, -1),
      ...[0, 1, 2].flatMap((shift) => base64Forms(secret, shift)),
    ]);
  return [...new Set(forms)].toSorted((a, b) => b.length - a.length);
}

/** What replaces a secret. */
export const secretMark = "[secret]";

/** Returns a function that replaces every secret in a text by `[secret]`, in each of its forms. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const forms = secretForms(secrets);
  return (text) =>
    forms.reduce((pieces, form) => pieces.flatMap((piece) => piece.split(form)), [text]).join(secretMark);
}

/** A text without the encoding of a URL. */
const decoded = (text: string): string =>
  new URLSearchParams(`text=${text.replaceAll("&", "%26")}`).get("text") ?? text;

/** Shorter forms could be parts of words. */
const minBase64Length = 8;

/** The characters that base64 has of a secret after this number of other bytes, whatever comes before and after it. */
function base64Forms(secret: string, shift: number): readonly string[] {
  const bytes = new TextEncoder().encode(" ".repeat(shift) + secret);
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  const form = text.slice(Math.ceil((shift * 8) / 6), Math.floor((bytes.length * 8) / 6));
  if (form.length < minBase64Length) return [];
  const forms = shift === 0 ? [form, text.replace(/=+$/, "")] : [form];
  return forms.flatMap((found) => [found, found.replaceAll("+", "-").replaceAll("/", "_")]);
}
