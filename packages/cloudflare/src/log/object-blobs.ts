import { LogError, type BlobStore } from "@moora/event-log";
import { blobsOf } from "@moora/event-log/store";
import type { Database, Row } from "./database.ts";

/** The most bytes that an object stores at once: it has 128 MB of memory for all that it does. */
export const maxObjectBlobLength: number = 16 * 1024 * 1024;

/** The bytes of one row. The platform limits a row to 2 MB. */
const partLength = 1_000_000;

/** Bytes beside the sessions of an object, in rows of their own. `clear` removes the bytes of all URLs. */
export interface ObjectBlobs extends BlobStore {
  readonly clear: () => Promise<void>;
}

export function objectBlobs(database: Database): ObjectBlobs {
  const remove = (digest: string): void => database.do("DELETE FROM moora_blobs WHERE digest = ?", digest);
  const write = (digest: string, bytes: Uint8Array): void => {
    remove(digest);
    for (let part = 0; part === 0 || part * partLength < bytes.length; part += 1) {
      const of = bytes.slice(part * partLength, (part + 1) * partLength);
      database.do("INSERT INTO moora_blobs VALUES (?, ?, ?)", digest, part, of.buffer);
    }
  };
  const blobs = blobsOf({
    where: "the storage of the object",
    async put(digest, bytes) {
      if (bytes.length > maxObjectBlobLength) throw tooLongError(bytes.length);
      await database.write("store bytes", database.epoch, () => write(digest, bytes));
    },
    get(digest) {
      const rows = database.read("read bytes", () =>
        database.all("SELECT bytes FROM moora_blobs WHERE digest = ? ORDER BY part", digest),
      );
      return rows.length === 0 ? undefined : joined(rows);
    },
    remove: (digest) => database.write("remove bytes", database.epoch, () => remove(digest)),
  });
  const clear = (): Promise<void> =>
    database.write("remove bytes", database.epoch, () => database.do("DELETE FROM moora_blobs"));
  return { ...blobs, clear };
}

const tooLongError = (length: number): LogError =>
  new LogError(
    "InvalidRecord",
    `The file has ${length} bytes; the limit in a Durable Object is ${maxObjectBlobLength}.`,
  );

function joined(rows: readonly Row[]): Uint8Array {
  const parts = rows.map(({ bytes }) =>
    bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : new Uint8Array(),
  );
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
