import { blobsOf } from "../blobs.ts";
import type { BlobStore } from "../port.ts";
import type { Connection } from "./connection.ts";

const sql = {
  hasTable: "SELECT 1 FROM sqlite_schema WHERE name = 'moora_blobs'",
  put: `INSERT INTO moora_blobs (digest, bytes) VALUES (?, ?)
    ON CONFLICT DO UPDATE SET bytes = excluded.bytes WHERE bytes <> excluded.bytes`,
  get: "SELECT bytes FROM moora_blobs WHERE digest = ?",
  remove: "DELETE FROM moora_blobs WHERE digest = ?",
} as const;

/** Bytes beside the sessions of a database: one row for each content. */
export const sqliteBlobs = (connection: Connection): BlobStore =>
  blobsOf({
    where: connection.file,
    put(digest, bytes) {
      connection.renew();
      return connection.run("store bytes", () => connection.do(sql.put, digest, bytes));
    },
    // A database of an earlier release that this process may not write has no such table.
    get: (digest) =>
      connection.run(
        "read bytes",
        () => connection.one(sql.hasTable) && connection.one(sql.get, digest)?.["bytes"],
      ),
    remove(digest) {
      connection.renew();
      return connection.run("remove bytes", () => connection.do(sql.remove, digest));
    },
  });
