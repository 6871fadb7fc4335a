import { secretForms, secretMark } from "@moora/llm/internal";

/**
 * Replaces secrets in a text that arrives in pieces. A secret is recognized as it is, percent-encoded, in base64, and
 * as JSON escapes it. The end of the text is buffered as long as it may be the beginning of a secret.
 */
export class SecretFilter {
  /** The longest first: one secret may be the beginning of another. */
  readonly #forms: readonly string[];
  readonly #firstCharacters: ReadonlySet<string>;
  #buffered = "";

  constructor(secrets: readonly string[]) {
    this.#forms = secretForms(secrets);
    this.#firstCharacters = new Set(this.#forms.map((form) => form.charAt(0)));
  }

  /** Takes the next piece and returns the text that can be shown now. */
  push(piece: string): string {
    const { shown, rest } = this.#scan(this.#buffered + piece, true);
    this.#buffered = rest;
    return shown;
  }

  /** Returns the buffered text. The next piece begins a new text. */
  flush(): string {
    const { shown } = this.#scan(this.#buffered, false);
    this.#buffered = "";
    return shown;
  }

  /** A whole text without its secrets. Does not change the buffered text. */
  clean(text: string): string {
    return this.#scan(text, false).shown;
  }

  #scan(text: string, mayContinue: boolean): { readonly shown: string; readonly rest: string } {
    let shown = "";
    let copied = 0;
    for (let at = 0; at < text.length; at += 1) {
      if (!this.#firstCharacters.has(text.charAt(at))) continue;
      if (mayContinue && this.#isBeginning(text.slice(at)))
        return { shown: shown + text.slice(copied, at), rest: text.slice(at) };
      const found = this.#forms.find((form) => text.startsWith(form, at));
      if (found === undefined) continue;
      shown += text.slice(copied, at) + secretMark;
      copied = at + found.length;
      at = copied - 1;
    }
    return { shown: shown + text.slice(copied), rest: "" };
  }

  #isBeginning(end: string): boolean {
    return this.#forms.some((form) => form.length > end.length && form.startsWith(end));
  }
}
