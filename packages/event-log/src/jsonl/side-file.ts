import { digestOf } from "../digest.ts";
import type { Files } from "./files.ts";

/** The content of a side file: a sealed value, and a text that the value describes. */
export interface SideContent<T> {
  readonly value: T;
  readonly text: string;
}

const sealPattern = /^(\S{22}) (\S{22})$/;
const firstBytes = 4 * 1024;
const lineBreak = 10;

/**
 * A file beside a log that belongs to one generation of its session. It is replaced as a whole and consists of a line with the
 * generation and the seal of the next line, a line with a value as JSON, and a text, which the seal does not cover.
 */
export class SideFile<T extends object> {
  readonly #files: Files;
  readonly #path: string;
  readonly #generation: string;
  readonly #isValue: (value: unknown) => value is T;

  constructor(files: Files, path: string, generation: string, isValue: (value: unknown) => value is T) {
    this.#files = files;
    this.#path = path;
    this.#generation = generation;
    this.#isValue = isValue;
  }

  /** Returns the content, or the size of a damaged file; undefined if there is no file of this generation. */
  read(): SideContent<T> | { readonly damagedBytes: number } | undefined {
    return this.#files.withFile(this.#path, "r", (fd) => {
      const size = this.#files.size(fd);
      return this.#parsed(this.#files.bytes(fd, 0, size), size);
    });
  }

  /** Returns the value without reading the text after it; undefined also if the file is damaged. */
  readValue(): T | undefined {
    return this.#files.withFile(this.#path, "r", (fd) => {
      const size = this.#files.size(fd);
      for (let length = firstBytes; ; length *= 8) {
        const bytes = this.#files.bytes(fd, 0, Math.min(length, size));
        const isWhole = bytes.length >= size || bytes.indexOf(lineBreak, bytes.indexOf(lineBreak) + 1) > 0;
        const found = isWhole ? this.#parsed(bytes, size) : undefined;
        if (isWhole) return found !== undefined && "value" in found ? found.value : undefined;
      }
    });
  }

  save(value: T, text = ""): void {
    this.#files.replace(this.#path, this.#toText(value, text));
  }

  /** The same, synced even in a relaxed log. */
  saveDurably(value: T, text = ""): void {
    this.#files.replaceDurably(this.#path, this.#toText(value, text));
  }

  remove(): void {
    this.#files.remove(this.#path);
  }

  #toText(value: T, text: string): string {
    const json = JSON.stringify(value);
    return `${this.#generation} ${digestOf(this.#generation, json)}\n${json}\n${text}`;
  }

  #parsed(bytes: Buffer, size: number): SideContent<T> | { readonly damagedBytes: number } | undefined {
    const firstEnd = bytes.indexOf(lineBreak);
    const secondEnd = bytes.indexOf(lineBreak, firstEnd + 1);
    const [, generation, seal] = sealPattern.exec(bytes.toString("utf8", 0, Math.max(0, firstEnd))) ?? [];
    const json = bytes.toString("utf8", firstEnd + 1, Math.max(0, secondEnd));
    if (generation === undefined || secondEnd < 0 || seal !== digestOf(generation, json))
      return { damagedBytes: size };
    if (generation !== this.#generation) return undefined;
    const value: unknown = JSON.parse(json);
    return this.#isValue(value)
      ? { value, text: bytes.toString("utf8", secondEnd + 1) }
      : { damagedBytes: size };
  }
}
