/** The texts that would show a secret: itself, and as it is encoded in base64, a URL, or JSON, also JSON in JSON. */
export function formsOf(secret: string): readonly string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const base64 = [0, 1, 2].map((shift) => base64Within(secret, shift));
  return [
    secret,
    inJson,
    JSON.stringify(inJson).slice(1, -1),
    encodeURIComponent(secret),
    ...base64,
    ...base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_")),
  ];
}

/** What base64 has of a secret after this number of other bytes, whatever they and the following ones are. */
function base64Within(secret: string, shift: number): string {
  const text = Buffer.from(" ".repeat(shift) + secret).toString("base64");
  const first = Math.ceil((shift * 8) / 6);
  const last = Math.floor(((shift + Buffer.byteLength(secret)) * 8) / 6);
  return text.slice(first, last);
}
