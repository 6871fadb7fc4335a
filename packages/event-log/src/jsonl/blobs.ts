import { join } from "node:path";
import { blobUrl, checkedBlob, digestInUrl, urlToStore } from "../blobs.ts";
import { andThen } from "../maybe-promise.ts";
import type { BlobStore, MaybePromise } from "../port.ts";
import type { JsonlDirectory } from "./directory.ts";

/** The folder of the files with bytes, and the name of their lock. */
const folder = "blobs";

/** Bytes beside the sessions of a directory: one file for each content, named by its digest in hexadecimal digits. */
export class JsonlBlobs implements BlobStore {
  readonly #directory: JsonlDirectory;

  constructor(directory: JsonlDirectory) {
    this.#directory = directory;
  }

  put(bytes: Uint8Array): MaybePromise<string> {
    const url = urlToStore(bytes);
    const path = this.#pathOf(url);
    const { files } = this.#directory;
    return this.#directory.run("store bytes", path, () => {
      files.makeDirectory(join(this.#directory.path, folder));
      const write = (): void => {
        if (this.#isStored(path, url)) return;
        files.replaceDurably(path, bytes);
      };
      return andThen(this.#directory.withLock(folder, write), () => url);
    });
  }

  get(url: string): MaybePromise<Uint8Array | undefined> {
    if (digestInUrl(url) === undefined) return undefined;
    const path = this.#pathOf(url);
    return this.#directory.run("read bytes", path, () => {
      const bytes = this.#read(path);
      return bytes === undefined ? undefined : checkedBlob(url, bytes, path);
    });
  }

  remove(url: string): MaybePromise<void> {
    if (digestInUrl(url) === undefined) return;
    const path = this.#pathOf(url);
    return this.#directory.run("remove bytes", path, () =>
      this.#directory.withLock(folder, () => this.#directory.files.remove(path)),
    );
  }

  #isStored(path: string, url: string): boolean {
    const bytes = this.#read(path);
    return bytes !== undefined && blobUrl(bytes) === url;
  }

  #read(path: string): Uint8Array | undefined {
    const { files } = this.#directory;
    return files.withFile(path, "r", (fd) => files.bytes(fd, 0, files.size(fd)));
  }

  /** Hexadecimal digits: some file systems ignore the case of letters. */
  #pathOf(url: string): string {
    const name = Buffer.from(digestInUrl(url) ?? "", "base64url").toString("hex");
    return join(this.#directory.path, folder, name);
  }
}
