import { hash } from "node:crypto";

/**
 * The name of a session's files, without extension: the readable characters of the id, and its hash. The hash is lower-case
 * hexadecimal, so ids that differ only in case get different names on every disk. The header contains the id itself.
 */
export function fileNameOf(id: string): string {
  const readable = id
    .slice(0, 40)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replace(/^-+/, "");
  return `${readable === "" ? "session" : readable}-${hash("sha256", id, "hex").slice(0, 32)}`;
}
