import { checkedBlob, digestInUrl, urlToStore } from "../blobs.ts";
import { andThen } from "../maybe-promise.ts";
import type { BlobStore, MaybePromise } from "../port.ts";
import type { Connection } from "./connection.ts";

const sql = {
  hasTable: "SELECT 1 FROM sqlite_schema WHERE name = 'moora_blobs'",
  put: `INSERT INTO moora_blobs (digest, bytes) VALUES (?, ?)
    ON CONFLICT DO UPDATE SET bytes = excluded.bytes WHERE bytes <> excluded.bytes`,
  get: "SELECT bytes FROM moora_blobs WHERE digest = ?",
  remove: "DELETE FROM moora_blobs WHERE digest = ?",
} as const;

/** Bytes beside the sessions of a database: one row for each content. */
export class SqliteBlobs implements BlobStore {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  put(bytes: Uint8Array): MaybePromise<string> {
    const url = urlToStore(bytes);
    this.#connection.renew();
    const put = (): void => this.#connection.do(sql.put, digestInUrl(url) ?? "", bytes);
    return andThen(this.#connection.run("store bytes", put), () => url);
  }

  get(url: string): MaybePromise<Uint8Array | undefined> {
    const digest = digestInUrl(url);
    if (digest === undefined) return undefined;
    // A database of an earlier release that this process may not write has no such table.
    const get = (): unknown =>
      this.#connection.one(sql.hasTable) && this.#connection.one(sql.get, digest)?.["bytes"];
    return andThen(this.#connection.run("read bytes", get), (bytes) =>
      bytes instanceof Uint8Array ? checkedBlob(url, bytes, this.#connection.file) : undefined,
    );
  }

  remove(url: string): MaybePromise<void> {
    const digest = digestInUrl(url);
    if (digest === undefined) return;
    this.#connection.renew();
    return this.#connection.run("remove bytes", () => this.#connection.do(sql.remove, digest));
  }
}
