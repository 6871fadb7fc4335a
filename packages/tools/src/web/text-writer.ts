/** The number of line ends before and after each block element; other elements are inline. */
const blocks: Readonly<Record<string, 1 | 2>> = {
  ...Object.fromEntries(
    ["p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "table", "ul", "ol", "dl"].map(
      (name) => [name, 2] as const,
    ),
  ),
  ...Object.fromEntries(
    [
      "div",
      "section",
      "article",
      "main",
      "header",
      "footer",
      "nav",
      "aside",
      "form",
      "tr",
      "li",
      "dt",
      "dd",
    ].map((name) => [name, 1] as const),
  ),
  address: 1,
  br: 1,
  figure: 1,
  hr: 1,
  option: 1,
};

const marks: Readonly<Record<string, string>> = {
  h1: "# ",
  h2: "## ",
  h3: "### ",
  h4: "#### ",
  h5: "##### ",
  h6: "###### ",
  li: "- ",
  td: " ",
  th: " ",
};

/**
 * Writes the text of elements as lines: white space is collapsed, blocks are separated, text in `pre` is unchanged. The
 * time is linear in the text for every page.
 */
export class TextWriter {
  readonly #pieces: string[] = [];
  /** For each open link: its address, where its text begins, and how many words had been written before. */
  readonly #links: {
    readonly link: string | undefined;
    readonly from: number;
    readonly words: number;
  }[] = [];
  #words = 0;
  #preformatted = 0;
  #gap = 0;

  open(name: string): void {
    this.#separate(name);
    if (name === "pre") this.#preformatted += 1;
    const mark = Object.hasOwn(marks, name) ? marks[name] : undefined;
    if (mark !== undefined) this.#push(mark);
  }

  close(name: string): void {
    if (name === "pre") this.#preformatted = Math.max(0, this.#preformatted - 1);
    this.#separate(name);
  }

  write(words: string): void {
    const isBlank = words.trim() === "";
    if (!isBlank) this.#words += 1;
    if (this.#preformatted > 0) return this.#push(words);
    const text = words.replaceAll(/\s+/g, " ");
    if (!isBlank) this.#push(text);
    else if (text !== "" && this.#gap === 0) this.#pieces.push(" ");
  }

  openLink(link: string | undefined): void {
    if (link !== undefined) this.#push("[");
    this.#links.push({ link, from: this.#pieces.length, words: this.#words });
  }

  /** A link without text is omitted. */
  closeLink(): void {
    const opened = this.#links.pop();
    if (opened?.link === undefined) return;
    if (opened.words === this.#words) this.#pieces.length = opened.from - 1;
    else this.#pieces.push(`](${opened.link})`);
  }

  done(): string {
    const lines = this.#pieces
      .join("")
      .split("\n")
      .map((line) => line.trimEnd());
    return lines
      .filter((line, index) => line !== "" || lines[index - 1] !== "")
      .join("\n")
      .trim();
  }

  #push(text: string): void {
    const begin = this.#gap > 0 && this.#preformatted === 0 ? text.trimStart() : text;
    this.#pieces.push("\n".repeat(this.#gap), begin === "" && text !== "" ? text : begin);
    this.#gap = 0;
  }

  #separate(name: string): void {
    const lines = Object.hasOwn(blocks, name) ? blocks[name] : undefined;
    if (lines !== undefined) this.#gap = Math.max(this.#gap, lines);
  }
}
