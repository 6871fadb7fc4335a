import { randomUUID } from "node:crypto";

/** The longest text of a payload in bytes, without its head. PostgreSQL accepts payloads of less than 8,000 bytes. */
const maxFragmentBytes = 7_900;

const continuationBits = 0b1000_0000;
const leadingBits = 0b1100_0000;

/** Whether a byte of UTF-8 continues a character. */
const isContinuation = (byte: number | undefined): boolean =>
  byte !== undefined && (byte & leadingBits) === continuationBits;

/** Makes payloads of texts. Each begins with the sender, the number of the text, and the position of the fragment among all of it. */
export class FragmentWriter {
  readonly #sender = randomUUID().slice(0, 8);
  #count = 0;

  /** The payloads of a text. No two of them are equal: of equal ones, PostgreSQL would drop all but one. */
  payloadsOf(text: string): readonly string[] {
    this.#count += 1;
    const fragments = fragmentsOf(Buffer.from(text));
    return fragments.map(
      (fragment, index) => `${this.#sender} ${this.#count} ${index + 1} ${fragments.length} ${fragment}`,
    );
  }
}

function fragmentsOf(bytes: Buffer): readonly string[] {
  const fragments: string[] = [];
  let start = 0;
  do {
    let end = Math.min(bytes.length, start + maxFragmentBytes);
    while (isContinuation(bytes[end])) end -= 1;
    fragments.push(bytes.toString("utf8", start, end));
    start = end;
  } while (start < bytes.length);
  return fragments;
}

interface IncompleteText {
  readonly sender: string;
  readonly number: string;
  readonly fragments: string[];
}

/** Joins the fragments of texts. Those of one text arrive one after the other; a text of which one is missing is dropped. */
export class FragmentReader {
  #incomplete: IncompleteText | undefined;

  /** The text that a payload completes; undefined if there is none. */
  textOf(payload: string): string | undefined {
    const [head = "", sender = "", number = "", index, count] =
      /^(\S+) (\d+) (\d+) (\d+) /.exec(payload) ?? [];
    const fragment = payload.slice(head.length);
    if (index === "1") this.#incomplete = { sender, number, fragments: [] };
    const incomplete = this.#incomplete;
    const continues =
      incomplete?.sender === sender &&
      incomplete.number === number &&
      incomplete.fragments.length + 1 === Number(index);
    if (incomplete === undefined || !continues) {
      this.#incomplete = undefined;
      return undefined;
    }
    incomplete.fragments.push(fragment);
    if (index !== count) return undefined;
    this.#incomplete = undefined;
    return incomplete.fragments.join("");
  }
}
