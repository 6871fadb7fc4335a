import { checkedBlob, digestInUrl, urlToStore } from "../blobs.ts";
import type { BlobStore } from "../port.ts";
import type { Connection } from "./connection.ts";

const stores = ["blobs"] as const;

/** Bytes beside the sessions of a database: one row for each content. */
export class IndexedDbBlobs implements BlobStore {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async put(bytes: Uint8Array): Promise<string> {
    const url = urlToStore(bytes);
    // A view on a part of a buffer is stored with the whole of it.
    const row = { digest: digestInUrl(url) ?? "", bytes: bytes.slice() };
    await this.#connection.run("store bytes", "write", stores, async (transaction) =>
      transaction.put("blobs", row),
    );
    return url;
  }

  async get(url: string): Promise<Uint8Array | undefined> {
    const digest = digestInUrl(url);
    if (digest === undefined) return undefined;
    const row = await this.#connection.run("read bytes", "read", stores, (transaction) =>
      transaction.get("blobs", digest),
    );
    const where = `the IndexedDB database ${JSON.stringify(this.#connection.name)}`;
    return row === undefined ? undefined : checkedBlob(url, row.bytes, where);
  }

  async remove(url: string): Promise<void> {
    const digest = digestInUrl(url);
    if (digest === undefined) return;
    await this.#connection.run(
      "remove bytes",
      "write",
      stores,
      async (transaction) => void transaction.store("blobs").delete(digest),
    );
  }
}
