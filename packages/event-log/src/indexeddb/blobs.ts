import { blobsOf } from "../blobs.ts";
import type { BlobStore } from "../port.ts";
import type { Connection } from "./connection.ts";

const stores = ["blobs"] as const;

/** Bytes beside the sessions of a database: one row for each content. */
export const indexedDbBlobs = (connection: Connection): BlobStore =>
  blobsOf({
    where: `the IndexedDB database ${JSON.stringify(connection.name)}`,
    put: (digest, bytes) =>
      connection.run("store bytes", "write", stores, async (transaction) =>
        // A view on a part of a buffer is stored with the whole of it.
        transaction.put("blobs", { digest, bytes: bytes.slice() }),
      ),
    get: (digest) =>
      connection.run(
        "read bytes",
        "read",
        stores,
        async (transaction) => (await transaction.get("blobs", digest))?.bytes,
      ),
    remove: (digest) =>
      connection.run("remove bytes", "write", stores, async (transaction) =>
        transaction.store("blobs").delete(digest),
      ),
  });
