import { digestOf } from "../digest.ts";
import type { Files } from "./files.ts";

/** A value beside a log that belongs to one life of its session: JSON text under a seal, replaced as a whole. */
export class SideFile<T extends object> {
  readonly #files: Files;
  readonly #path: string;
  readonly #life: string;
  readonly #isValue: (value: unknown) => value is T;

  constructor(files: Files, path: string, life: string, isValue: (value: unknown) => value is T) {
    this.#files = files;
    this.#path = path;
    this.#life = life;
    this.#isValue = isValue;
  }

  /** Undefined when there is none, or only one of an earlier life; else the value, or the size of the damaged file. */
  read(): { readonly value: T } | { readonly damagedBytes: number } | undefined {
    const bytes = this.#files.withFile(this.#path, "r", (fd) =>
      this.#files.bytes(fd, 0, this.#files.size(fd)),
    );
    if (bytes === undefined) return undefined;
    const damaged = { damagedBytes: bytes.length };
    const [, life, digest, json] = /^(\S{22}) (\S{22})\n([^]*)\n$/.exec(bytes.toString("utf8")) ?? [];
    if (life === undefined || json === undefined || digest !== digestOf(life, json)) return damaged;
    if (life !== this.#life) return undefined;
    const value: unknown = JSON.parse(json);
    return this.#isValue(value) ? { value } : damaged;
  }

  save(value: T): void {
    const json = JSON.stringify(value);
    this.#files.replace(this.#path, `${this.#life} ${digestOf(this.#life, json)}\n${json}\n`);
  }

  remove(): void {
    this.#files.remove(this.#path);
  }
}
