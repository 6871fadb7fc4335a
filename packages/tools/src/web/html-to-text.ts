import { Parser } from "htmlparser2";

/** The readable text of a page. Links are written as [text](address). */
export interface PageText {
  readonly title: string;
  readonly text: string;
}

/** The content of these elements is skipped. */
const unread = new Set("script style noscript template svg math iframe object canvas head".split(" "));

/** The elements with an empty line before and after them, and those with a line end; others are inline. */
const paragraphs = new Set("p h1 h2 h3 h4 h5 h6 blockquote pre table ul ol dl".split(" "));
const lines = new Set(
  "div section article main header footer nav aside form tr li dt dd address br figure hr option".split(" "),
);

const marks: ReadonlyMap<string, string> = new Map([
  ...[1, 2, 3, 4, 5, 6].map((level) => [`h${level}`, `${"#".repeat(level)} `] as const),
  ["li", "- "],
  ["td", " "],
  ["th", " "],
]);

/** Pages do not nest deeper in practice; the time of the parser grows with the depth. */
const maxDepth = 500;
const chunkLength = 8_192;

/** The readable text of an HTML page, with absolute links. Stops where the nesting exceeds `maxDepth`. */
export function htmlToText(html: string, base: URL): PageText {
  const page = new PageReader(base);
  const parser = new Parser({
    onopentag: (name, { href }) => page.open(name, href),
    ontext: (words) => page.read(words),
    onclosetag: (name) => page.close(name),
  });
  for (let at = 0; at < html.length && page.depth <= maxDepth; at += chunkLength)
    parser.write(html.slice(at, at + chunkLength));
  parser.end();
  return page.done();
}

interface OpenLink {
  readonly link: string | undefined;
  /** Where its text begins, and how many words had been written before. */
  readonly from: number;
  readonly words: number;
}

/**
 * Writes the text of elements as lines: white space is collapsed, blocks are separated, text in `pre` is unchanged. The
 * time is linear in the text for every page.
 */
class PageReader {
  depth = 0;
  readonly #base: URL;
  readonly #pieces: string[] = [];
  readonly #links: OpenLink[] = [];
  #title = "";
  #isTitle = false;
  #unreadDepth = 0;
  #words = 0;
  #preformatted = 0;
  #gap = 0;

  constructor(base: URL) {
    this.#base = base;
  }

  open(name: string, href: string | undefined): void {
    this.depth += 1;
    // The title of an image is nested deeper.
    if (name === "title" && this.#unreadDepth <= 1) this.#isTitle = this.#title === "";
    if (unread.has(name)) this.#unreadDepth += 1;
    if (this.#unreadDepth > 0) return;
    if (name === "a") return this.#openLink(linkOf(href, this.#base));
    this.#separate(name);
    if (name === "pre") this.#preformatted += 1;
    const mark = marks.get(name);
    if (mark !== undefined) this.#push(mark);
  }

  read(words: string): void {
    if (this.#isTitle) this.#title += words;
    else if (this.#unreadDepth === 0) this.#write(words);
  }

  close(name: string): void {
    this.depth -= 1;
    if (name === "title") this.#isTitle = false;
    if (unread.has(name)) this.#unreadDepth -= 1;
    else if (this.#unreadDepth === 0 && name === "a") this.#closeLink();
    else if (this.#unreadDepth === 0) {
      if (name === "pre") this.#preformatted = Math.max(0, this.#preformatted - 1);
      this.#separate(name);
    }
  }

  done(): PageText {
    const title = this.#title.replaceAll(/\s+/g, " ").trim().slice(0, 300).toWellFormed();
    const written = this.#pieces
      .join("")
      .split("\n")
      .map((line) => line.trimEnd());
    const shown = written.filter((line, index) => line !== "" || written[index - 1] !== "");
    return { title, text: shown.join("\n").trim() };
  }

  #write(words: string): void {
    const isBlank = words.trim() === "";
    if (!isBlank) this.#words += 1;
    if (this.#preformatted > 0) return this.#push(words);
    const text = words.replaceAll(/\s+/g, " ");
    if (!isBlank) this.#push(text);
    else if (text !== "" && this.#gap === 0) this.#pieces.push(" ");
  }

  #openLink(link: string | undefined): void {
    if (link !== undefined) this.#push("[");
    this.#links.push({ link, from: this.#pieces.length, words: this.#words });
  }

  /** A link without text is omitted. */
  #closeLink(): void {
    const opened = this.#links.pop();
    if (opened?.link === undefined) return;
    if (opened.words === this.#words) this.#pieces.length = opened.from - 1;
    else this.#pieces.push(`](${opened.link})`);
  }

  #push(text: string): void {
    const begin = this.#gap > 0 && this.#preformatted === 0 ? text.trimStart() : text;
    this.#pieces.push("\n".repeat(this.#gap), begin === "" ? text : begin);
    this.#gap = 0;
  }

  #separate(name: string): void {
    this.#gap = Math.max(this.#gap, paragraphs.has(name) ? 2 : lines.has(name) ? 1 : 0);
  }
}

function linkOf(href: string | undefined, base: URL): string | undefined {
  const url = href === undefined || href.startsWith("#") ? null : URL.parse(href, base.href);
  return url?.protocol === "http:" || url?.protocol === "https:" ? url.href : undefined;
}
