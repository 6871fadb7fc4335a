import { sha256 } from "@noble/hashes/sha2.js";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const digestLength = 22;

const sextet = (bits: number): string => alphabet.charAt(bits & 63);

/** The hash for runtimes without `node:crypto`: SHA-256 in JavaScript, the first 16 bytes as base64url. */
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

/** The part of the global object that Node.js, Deno and Bun have and browsers do not. */
interface WithProcess {
  readonly process?: {
    readonly getBuiltinModule?: (
      name: string,
    ) =>
      | { readonly hash?: (algorithm: string, data: string | Uint8Array, encoding: string) => string }
      | undefined;
  };
}

function nativeHash(): ((text: string) => string) | undefined {
  // Looked up at run time, so that bundlers for browsers see no import of `node:crypto`.
  const { process } = globalThis as WithProcess;
  const hash = process?.getBuiltinModule?.("node:crypto")?.hash;
  if (typeof hash !== "function") return undefined;
  return (text) => {
    const digest = hash("sha256", text, "base64url");
    // 22 characters hold 132 bits: the last four belong to the 17th byte and are cleared.
    return digest.slice(0, digestLength - 1) + sextet(alphabet.indexOf(digest.charAt(digestLength - 1)) & 48);
  };
}

/** SHA-256 of bytes as 43 characters of base64url. */
export function bytesDigest(bytes: Uint8Array): string {
  const { process } = globalThis as WithProcess;
  const hash = process?.getBuiltinModule?.("node:crypto")?.hash;
  if (typeof hash === "function") return hash("sha256", bytes, "base64url");
  const binary = String.fromCharCode(...sha256(bytes));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

const hashText: (text: string) => string = nativeHash() ?? portableHash;

/**
 * The digest of one or more texts: SHA-256 truncated to 128 bits, as 22 characters of base64url. Synchronous, and the same on
 * every runtime. The length of each text is hashed too, so ("ab", "c") and ("a", "bc") differ. The texts must be well-formed.
 */
export function digestOf(...parts: readonly string[]): string {
  let framed = "";
  for (const part of parts) framed += `${part.length}:${part}`;
  return hashText(framed);
}

/** The digest of a record, which chains it to the record before: a hash of the previous digest and `body`. */
export const recordDigest = (previousDigest: string, body: string): string => digestOf(previousDigest, body);
