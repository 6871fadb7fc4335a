import { join } from "node:path";
import { blobUrl, checkedBlob, digestInUrl, urlToStore } from "../blobs.ts";
import type { BlobStore } from "../port.ts";
import type { JsonlFolder } from "./folder.ts";

/** Bytes beside the sessions of a folder: one file for each content, named by its digest in hexadecimal digits. */
export function jsonlBlobs(folder: JsonlFolder): BlobStore {
  const directory = join(folder.path, "blobs");
  /** Hexadecimal digits: some file systems ignore the case of letters. */
  const pathOf = (url: string): string =>
    join(directory, Buffer.from(digestInUrl(url) ?? "", "base64url").toString("hex"));
  return {
    put(bytes) {
      const url = urlToStore(bytes);
      const path = pathOf(url);
      return folder.run("store bytes", path, () => {
        folder.files.makeDirectory(directory);
        const stored = folder.files.read(path);
        if (stored === undefined || blobUrl(stored) !== url) folder.files.replace(path, bytes, true);
        return url;
      });
    },
    get(url) {
      if (digestInUrl(url) === undefined) return undefined;
      const path = pathOf(url);
      return folder.run("read bytes", path, () => {
        const bytes = folder.files.read(path);
        return bytes === undefined ? undefined : checkedBlob(url, bytes, path);
      });
    },
    remove(url) {
      if (digestInUrl(url) === undefined) return;
      const path = pathOf(url);
      folder.run("remove bytes", path, () => folder.files.remove(path));
    },
  };
}
