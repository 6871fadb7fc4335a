import { bytesDigest } from "./digest.ts";
import { LogError } from "./log-error.ts";
import { andThen } from "./maybe-promise.ts";
import type { BlobStore, MaybePromise } from "./port.ts";

const prefix = "ni:///sha-256;";
const urlPattern = /^ni:\/\/\/sha-256;([\w-]{43})$/;

/** The most bytes that a store accepts at once. */
export const maxBlobLength = 100_000_000;

/** The URL of bytes by their content, as RFC 6920 defines it: `ni:///sha-256;` and the digest as base64url. */
export const blobUrl = (bytes: Uint8Array): string => prefix + bytesDigest(bytes);

/** The URL of bytes to store. Throws `InvalidRecord` for a value that is not bytes, or too many of them. */
export function urlToStore(bytes: Uint8Array): string {
  // Callers without types may pass any value.
  const given: unknown = bytes;
  if (given instanceof Uint8Array && given.length <= maxBlobLength) return blobUrl(given);
  const got = given instanceof Uint8Array ? `${given.length} bytes` : `a value of type ${typeof given}`;
  throw new LogError(
    "InvalidRecord",
    `Bytes must be a Uint8Array of at most ${maxBlobLength} bytes, got ${got}.`,
  );
}

/** The digest in a URL that `blobUrl` made; undefined for any other URL. */
export const digestInUrl = (url: string): string | undefined => urlPattern.exec(url)?.[1];

/** Every URL of `blobUrl` in a text, each once. */
export const blobUrlsIn = (text: string): readonly string[] => [
  ...new Set(text.match(/ni:\/\/\/sha-256;[\w-]{43}(?![\w-])/g)),
];

/** Returns the bytes of a URL, or throws `LogCorrupt` if they are not the ones that were stored. */
export function checkedBlob(url: string, bytes: Uint8Array, where: string): Uint8Array {
  if (blobUrl(bytes) === url) return bytes;
  throw new LogError("LogCorrupt", `The bytes of ${url} in ${where} are not the ones that were stored.`);
}

/** Where a store keeps bytes by their digest. `where` is for errors. */
export interface StoredBytes {
  readonly where: string;
  readonly put: (digest: string, bytes: Uint8Array) => MaybePromise<unknown>;
  /** Returns the bytes; a value of another type if there are none. */
  readonly get: (digest: string) => MaybePromise<unknown>;
  readonly remove: (digest: string) => MaybePromise<unknown>;
}

/** The bytes of a store by their URLs. */
export const blobsOf = ({ where, put, get, remove }: StoredBytes): BlobStore => ({
  put(bytes) {
    const url = urlToStore(bytes);
    return andThen(put(digestInUrl(url) ?? "", bytes), () => url);
  },
  get(url) {
    const digest = digestInUrl(url);
    return andThen(digest === undefined ? undefined : get(digest), (bytes) =>
      bytes instanceof Uint8Array ? checkedBlob(url, bytes, where) : undefined,
    );
  },
  remove(url) {
    const digest = digestInUrl(url);
    return andThen(digest === undefined ? undefined : remove(digest), () => undefined);
  },
});
