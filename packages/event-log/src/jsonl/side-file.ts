import { digestOf } from "../digest.ts";
import type { Lease, Snapshot } from "../port.ts";
import type { Files } from "./files.ts";

/** The value of the file beside a session that has its lease. It is kept when the lease is released. */
export interface LeaseNote {
  readonly lease?: Lease | undefined;
  /** The last acknowledged record when this was saved. A log that ends before it is damaged. */
  readonly acknowledgedSeq?: number | undefined;
}

/** The value of the file beside a session that has its snapshot. The text after it is the body. */
export type SnapshotNote = Omit<Snapshot, "body">;

/** The content of a side file: a sealed value, and a text that the value describes. */
interface SideContent<T> {
  readonly value: T;
  readonly text: string;
}

const sealPattern = /^(\S{22}) (\S{22})$/;
const lineBreak = 10;

/**
 * A file beside a session that belongs to one generation of it. It is replaced as a whole and consists of a line with the
 * generation and the seal of the next line, a line with a value as JSON, and a text, which the seal does not cover.
 */
export class SideFile<T extends object> {
  readonly #files: Files;
  readonly #path: string;
  readonly #generation: string;

  constructor(files: Files, path: string, generation: string) {
    this.#files = files;
    this.#path = path;
    this.#generation = generation;
  }

  /** Returns the content, or the size of a damaged file; undefined if there is no file of this generation. */
  read(): SideContent<T> | { readonly damagedBytes: number } | undefined {
    const bytes = this.#files.read(this.#path);
    if (bytes === undefined) return undefined;
    const firstEnd = bytes.indexOf(lineBreak);
    const secondEnd = bytes.indexOf(lineBreak, firstEnd + 1);
    const [, generation, seal] = sealPattern.exec(bytes.toString("utf8", 0, Math.max(0, firstEnd))) ?? [];
    const json = bytes.toString("utf8", firstEnd + 1, Math.max(0, secondEnd));
    if (generation === undefined || secondEnd < 0 || seal !== digestOf(generation, json))
      return { damagedBytes: bytes.length };
    if (generation !== this.#generation) return undefined;
    // By its seal, the value is one that was saved.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return { value: JSON.parse(json) as T, text: bytes.toString("utf8", secondEnd + 1) };
  }

  /** Saves a value; synced also in a relaxed log if `isDurable`. */
  save(value: T, text = "", isDurable?: boolean): void {
    const json = JSON.stringify(value);
    const seal = digestOf(this.#generation, json);
    this.#files.replace(this.#path, `${this.#generation} ${seal}\n${json}\n${text}`, isDurable);
  }
}
