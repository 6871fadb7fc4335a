import type { BlobStore } from "@moora/event-log";
import { checkedBlob, digestInUrl, urlToStore } from "@moora/event-log/store";
import type { Database } from "./database.ts";

/** Bytes beside the sessions of a database: one row for each content. */
export class PostgresBlobs implements BlobStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async put(bytes: Uint8Array): Promise<string> {
    const url = urlToStore(bytes);
    const { statements } = this.#database;
    await this.#database.rows("store bytes", statements.putBlob, digestInUrl(url), Buffer.from(bytes));
    return url;
  }

  async get(url: string): Promise<Uint8Array | undefined> {
    const digest = digestInUrl(url);
    if (digest === undefined) return undefined;
    const { statements } = this.#database;
    const [row] = await this.#database.rows("read bytes", statements.getBlob, digest);
    const bytes = row?.["bytes"];
    return bytes instanceof Uint8Array ? checkedBlob(url, bytes, "the database") : undefined;
  }

  async remove(url: string): Promise<void> {
    const digest = digestInUrl(url);
    if (digest !== undefined)
      await this.#database.rows("remove bytes", this.#database.statements.removeBlob, digest);
  }
}
