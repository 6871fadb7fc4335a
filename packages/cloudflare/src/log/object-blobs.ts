import { LogError, type BlobStore } from "@moora/event-log";
import { checkedBlob, digestInUrl, urlToStore } from "@moora/event-log/store";
import type { Database } from "./database.ts";

/** The most bytes that an object stores at once: it has 128 MB of memory for all that it does. */
export const maxObjectBlobLength: number = 16 * 1024 * 1024;

/** The bytes of one row. The platform limits a row to 2 MB. */
const partLength = 1_000_000;

/** Bytes beside the sessions of an object, in rows of their own. */
export class ObjectBlobs implements BlobStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async put(bytes: Uint8Array): Promise<string> {
    const url = urlToStore(bytes);
    if (bytes.length > maxObjectBlobLength) {
      throw new LogError(
        "InvalidRecord",
        `The file has ${bytes.length} bytes; the limit in a Durable Object is ${maxObjectBlobLength}.`,
      );
    }
    const digest = digestInUrl(url) ?? "";
    await this.#database.writeDurably("store bytes", () => {
      this.#delete(digest);
      for (let part = 0; part === 0 || part * partLength < bytes.length; part += 1) {
        const of = bytes.slice(part * partLength, (part + 1) * partLength);
        this.#database.do("INSERT INTO moora_blobs VALUES (?, ?, ?)", digest, part, of.buffer);
      }
    });
    return url;
  }

  get(url: string): Uint8Array | undefined {
    const digest = digestInUrl(url);
    if (digest === undefined) return undefined;
    const rows = this.#database.read("read bytes", () =>
      this.#database.all("SELECT bytes FROM moora_blobs WHERE digest = ? ORDER BY part", digest),
    );
    if (rows.length === 0) return undefined;
    const parts = rows.map(({ bytes }) =>
      bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : new Uint8Array(),
    );
    return checkedBlob(url, joined(parts), "the storage of the object");
  }

  async remove(url: string): Promise<void> {
    const digest = digestInUrl(url);
    if (digest === undefined) return;
    await this.#database.writeDurably("remove bytes", () => this.#delete(digest));
  }

  /** Removes the bytes of all URLs. */
  async clear(): Promise<void> {
    await this.#database.writeDurably("remove bytes", () => this.#database.do("DELETE FROM moora_blobs"));
  }

  #delete(digest: string): void {
    this.#database.do("DELETE FROM moora_blobs WHERE digest = ?", digest);
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
