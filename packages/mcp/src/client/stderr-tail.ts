import type { Stream } from "node:stream";
import type { SecretMask } from "./secret-mask.ts";

/** How much of the output is shown, in characters. As much before it is read, so that no secret is cut in two before it is masked. */
const maxLength = 2_000;

/** Reads the output of a server that is meant for people, and keeps its end. Returns a function that returns it, masked. */
export function stderrTail(output: Stream | null, mask: SecretMask): () => string {
  let tail = "";
  output?.on("data", (chunk: Buffer) => {
    tail = (tail + chunk.toString("utf8")).slice(-2 * maxLength);
  });
  return () => mask.error(tail).slice(-maxLength).trim().toWellFormed();
}
