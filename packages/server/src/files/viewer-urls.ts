import type { ServerContext } from "../server-options.ts";

const prefix = "ni:///sha-256;";

/** The URL of stored bytes by their digest, as records have it. */
export const urlOfDigest = (digest: string): string => `${prefix}${digest}`;

/** The digest in the URL of stored bytes; undefined for any other URL. */
export const digestOfUrl = (url: string): string | undefined =>
  url.startsWith(prefix) ? url.slice(prefix.length) : undefined;

/** The URL at which a viewer of a session reads a file: a path of this server for bytes that are stored by their digest. */
export function viewerUrl({ basePath }: Pick<ServerContext, "basePath">, id: string, url: string): string {
  const digest = digestOfUrl(url);
  return digest === undefined ? url : `${basePath}/sessions/${encodeURIComponent(id)}/files/${digest}`;
}
