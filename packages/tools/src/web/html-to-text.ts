import { Parser } from "htmlparser2";
import { TextWriter } from "./text-writer.ts";

/** The readable text of a page. Links are written as [text](address). */
export interface PageText {
  readonly title: string;
  readonly text: string;
}

/** The content of these elements is skipped. */
const unread = new Set("script style noscript template svg math iframe object canvas head".split(" "));

/** Pages do not nest deeper in practice; the time of the parser grows with the depth. */
const maxDepth = 500;
const chunkLength = 8_192;

/** The readable text of an HTML page, with absolute links. Stops where the nesting exceeds `maxDepth`. */
export function htmlToText(html: string, base: URL): PageText {
  const page = new PageReader(base);
  const parser = new Parser({
    onopentag: (name, { href }) => page.open(name, href),
    ontext: (words) => page.write(words),
    onclosetag: (name) => page.close(name),
  });
  for (let at = 0; at < html.length && page.depth <= maxDepth; at += chunkLength)
    parser.write(html.slice(at, at + chunkLength));
  parser.end();
  return page.done();
}

/** The text read so far, and the position of the parser in the page. */
class PageReader {
  depth = 0;
  readonly #base: URL;
  readonly #text = new TextWriter();
  #title = "";
  #isTitle = false;
  #unreadDepth = 0;

  constructor(base: URL) {
    this.#base = base;
  }

  open(name: string, href: string | undefined): void {
    this.depth += 1;
    // The title of an image is nested deeper.
    if (name === "title" && this.#unreadDepth <= 1) this.#isTitle = this.#title === "";
    if (unread.has(name)) this.#unreadDepth += 1;
    if (this.#unreadDepth > 0) return;
    if (name === "a") this.#text.openLink(linkOf(href, this.#base));
    else this.#text.open(name);
  }

  write(words: string): void {
    if (this.#isTitle) this.#title += words;
    else if (this.#unreadDepth === 0) this.#text.write(words);
  }

  close(name: string): void {
    this.depth -= 1;
    if (name === "title") this.#isTitle = false;
    if (unread.has(name)) this.#unreadDepth -= 1;
    else if (this.#unreadDepth === 0 && name === "a") this.#text.closeLink();
    else if (this.#unreadDepth === 0) this.#text.close(name);
  }

  done(): PageText {
    const title = this.#title.replaceAll(/\s+/g, " ").trim().slice(0, 300).toWellFormed();
    return { title, text: this.#text.done() };
  }
}

function linkOf(href: string | undefined, base: URL): string | undefined {
  const url = href === undefined || href.startsWith("#") ? null : URL.parse(href, base.href);
  return url?.protocol === "http:" || url?.protocol === "https:" ? url.href : undefined;
}
