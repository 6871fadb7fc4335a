import type { BlobStore } from "@moora/event-log";
import { blobsOf } from "@moora/event-log/store";
import type { Database } from "./database.ts";

/** Bytes beside the sessions of a database: one row for each content. */
export const postgresBlobs = (database: Database): BlobStore =>
  blobsOf({
    where: "the database",
    put: (digest, bytes) =>
      database.rows("store bytes", database.statements.putBlob, digest, Buffer.from(bytes)),
    get: async (digest) =>
      (await database.rows("read bytes", database.statements.getBlob, digest))[0]?.["bytes"],
    remove: (digest) => database.rows("remove bytes", database.statements.removeBlob, digest),
  });
