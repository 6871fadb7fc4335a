/** The elements with an empty line before and after them, and those with a line end; others are inline. */
const paragraphs = "p h1 h2 h3 h4 h5 h6 blockquote pre table ul ol dl".split(" ");
const lines =
  "div section article main header footer nav aside form tr li dt dd address br figure hr option".split(" ");

const marks: ReadonlyMap<string, string> = new Map([
  ...[1, 2, 3, 4, 5, 6].map((level) => [`h${level}`, `${"#".repeat(level)} `] as const),
  ["li", "- "],
  ["td", " "],
  ["th", " "],
]);

interface OpenLink {
  readonly link: string | undefined;
  readonly from: number;
  readonly words: number;
}

/**
 * Writes the text of elements as lines: white space is collapsed, blocks are separated, text in `pre` is unchanged. The
 * time is linear in the text for every page.
 */
export class TextWriter {
  readonly #pieces: string[] = [];
  /** For each open link: its address, where its text begins, and how many words had been written before. */
  readonly #links: OpenLink[] = [];
  #words = 0;
  #preformatted = 0;
  #gap = 0;

  open(name: string): void {
    this.#separate(name);
    if (name === "pre") this.#preformatted += 1;
    const mark = marks.get(name);
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
    const written = this.#pieces
      .join("")
      .split("\n")
      .map((line) => line.trimEnd());
    return written
      .filter((line, index) => line !== "" || written[index - 1] !== "")
      .join("\n")
      .trim();
  }

  #push(text: string): void {
    const begin = this.#gap > 0 && this.#preformatted === 0 ? text.trimStart() : text;
    this.#pieces.push("\n".repeat(this.#gap), begin === "" ? text : begin);
    this.#gap = 0;
  }

  #separate(name: string): void {
    const lineEnds = paragraphs.includes(name) ? 2 : lines.includes(name) ? 1 : 0;
    this.#gap = Math.max(this.#gap, lineEnds);
  }
}
