import { sha256 } from "@noble/hashes/sha2.js";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const digestLength = 22;

const sextet = (bits: number): string => alphabet.charAt(bits & 63);

/** The same digest where there is no `node:crypto`: SHA-256 in JavaScript, the first 16 bytes in base64url. */
export function portableHash(text: string): string {
  const bytes = sha256(new TextEncoder().encode(text));
  let digest = "";
  for (let at = 0; at < 15; at += 3) {
    const triple = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    digest += sextet(triple >> 18) + sextet(triple >> 12) + sextet(triple >> 6) + sextet(triple);
  }
  const last = bytes[15] ?? 0;
  return digest + sextet(last >> 2) + sextet(last << 4);
}

/** What Node, Deno and Bun put on the global object, and browsers do not. */
interface WithProcess {
  readonly process?: {
    readonly getBuiltinModule?: (
      name: string,
    ) => { readonly hash?: (algorithm: string, text: string, encoding: string) => string } | undefined;
  };
}

function nativeHash(): ((text: string) => string) | undefined {
  // Only asked for at run time, so that bundlers for browsers see no import of it.
  const { process } = globalThis as WithProcess;
  const hash = process?.getBuiltinModule?.("node:crypto")?.hash;
  if (typeof hash !== "function") return undefined;
  return (text) => {
    const digest = hash("sha256", text, "base64url");
    // 22 characters hold 132 bits: the last four belong to the 17th byte and are cleared.
    return digest.slice(0, digestLength - 1) + sextet(alphabet.indexOf(digest.charAt(digestLength - 1)) & 48);
  };
}

const hashed: (text: string) => string = nativeHash() ?? portableHash;

/**
 * The digest of some texts: SHA-256 cut to 128 bits, as 22 characters of base64url; synchronous and the same everywhere.
 * Each text counts with its length, so that ("ab", "c") and ("a", "bc") differ. The texts must be well-formed.
 */
export function digestOf(...parts: readonly string[]): string {
  let framed = "";
  for (const part of parts) framed += `${part.length}:${part}`;
  return hashed(framed);
}

/** The digest of a record: of the digest before it, its body and what it changed. */
export const chained = (previousDigest: string, body: string, changed: string): string =>
  digestOf(previousDigest, body, changed);
