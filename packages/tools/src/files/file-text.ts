import { isUtf8 } from "node:buffer";
import { isMooraContent } from "./moora-files.ts";
import { excluded, type RootFolder } from "./root-folder.ts";

/** The text of a file, or why it cannot be returned. What is not UTF-8 has replacement characters. */
export type FileText =
  | { readonly type: "text"; readonly text: string; readonly isUtf8: boolean }
  | { readonly type: "binary"; readonly bytes: number }
  | { readonly type: "too-large"; readonly bytes: number };

/** The number of bytes that decide whether a file is text, and whose it is. */
const probeLength = 8_192;

/**
 * Reads a file inside the root. Of a file of more than `maxBytes` only the beginning is read. Rejects with `Refused` for a file of
 * Moora, which is recognized by what was read.
 */
export async function fileText(
  root: RootFolder,
  path: string,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<FileText> {
  const handle = await root.open(path, "file");
  try {
    const { size } = await handle.stat();
    // One byte more than allowed: the file may grow while it is read.
    const end = size > maxBytes ? probeLength : maxBytes;
    const bytes = Buffer.concat(await handle.createReadStream({ end, autoClose: false }).toArray({ signal }));
    if (isMooraContent(bytes)) throw excluded(path);
    if (size > maxBytes || bytes.length > maxBytes)
      return { type: "too-large", bytes: Math.max(size, bytes.length) };
    if (isBinary(bytes.subarray(0, probeLength))) return { type: "binary", bytes: bytes.length };
    return { type: "text", text: new TextDecoder("utf-8").decode(bytes), isUtf8: isUtf8(bytes) };
  } finally {
    await handle.close();
  }
}

/** Whether there is a zero byte, or more control characters than text contains. */
export function isBinary(bytes: Uint8Array): boolean {
  let controls = 0;
  for (const byte of bytes) {
    if (byte === 0) return true;
    if (byte < 32 && byte !== 9 && byte !== 10 && byte !== 12 && byte !== 13 && byte !== 27) controls += 1;
  }
  return controls * 10 > bytes.length;
}

export const kilobytes = (bytes: number): string =>
  bytes < 1_000 ? `${bytes} bytes` : `${(bytes / 1_000).toFixed(bytes < 10_000 ? 1 : 0)} kB`;
