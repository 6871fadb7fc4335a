import type { BlobStore } from "@moora/event-log";
import { defaultMaxInlineBytes, SessionFiles, type BlobOptions } from "./session-files.ts";

/** The files of a session; undefined if there is no store. Files that were stored earlier are always loaded. */
export function filesOf(
  blobs: BlobOptions | undefined,
  own: BlobStore | undefined,
): SessionFiles | undefined {
  const store = blobs?.store ?? own;
  if (store === undefined) return undefined;
  return new SessionFiles(
    store,
    blobs === undefined ? Infinity : (blobs.maxInlineBytes ?? defaultMaxInlineBytes),
  );
}
