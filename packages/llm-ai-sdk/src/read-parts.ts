import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { isLastChunk } from "./last-chunk.ts";

/**
 * The parts of a stream. The first part, which arrives with the headers, is passed on with the second one, so that it does not
 * count as the beginning of the answer. `onLastChunk` is called for the raw chunk that completes the content, and for every
 * part after it.
 */
export async function* readParts(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  onLastChunk: () => void,
): AsyncGenerator<LanguageModelV4StreamPart, void, undefined> {
  let start: LanguageModelV4StreamPart | undefined;
  let isLast = false;
  const reader = stream.getReader();
  try {
    for (;;) {
      // A stream is read chunk by chunk.
      // oxlint-disable-next-line no-await-in-loop
      const { done, value: part } = await reader.read();
      if (done) return;
      if (part.type === "stream-start") {
        start = part;
        continue;
      }
      isLast ||= part.type === "raw" && isLastChunk(part.rawValue);
      if (isLast) onLastChunk();
      if (start !== undefined) yield start;
      start = undefined;
      yield part;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}
