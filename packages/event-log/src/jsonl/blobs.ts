import { join } from "node:path";
import { blobsOf } from "../blobs.ts";
import type { BlobStore } from "../port.ts";
import type { JsonlFolder } from "./folder.ts";

/** Bytes beside the sessions of a folder: one file for each content, named by its digest in hexadecimal digits. */
export function jsonlBlobs(folder: JsonlFolder): BlobStore {
  const directory = join(folder.path, "blobs");
  /** Hexadecimal digits: some file systems ignore the case of letters. */
  const pathOf = (digest: string): string =>
    join(directory, Buffer.from(digest, "base64url").toString("hex"));
  return blobsOf({
    where: directory,
    put: (digest, bytes) =>
      folder.run("store bytes", pathOf(digest), () => {
        folder.files.makeDirectory(directory);
        if (folder.files.read(pathOf(digest))?.equals(bytes) !== true)
          folder.files.replace(pathOf(digest), bytes, true);
      }),
    get: (digest) => folder.run("read bytes", pathOf(digest), () => folder.files.read(pathOf(digest))),
    remove: (digest) => folder.run("remove bytes", pathOf(digest), () => folder.files.remove(pathOf(digest))),
  });
}
