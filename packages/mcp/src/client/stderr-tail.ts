import type { Stream } from "node:stream";

/** How much of the output is kept, in characters. */
const maxLength = 2_000;

/** Reads the output of a server that is meant for people, and keeps its end. Returns a function that returns it. */
export function stderrTail(output: Stream | null): () => string {
  let tail = "";
  output?.on("data", (chunk: Buffer) => {
    tail = (tail + chunk.toString("utf8")).slice(-maxLength);
  });
  return () => tail.trim().toWellFormed();
}
