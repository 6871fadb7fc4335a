import type { LlmCallOptions } from "../caller.ts";
import { chunkFeed, type ChunkFeed } from "../chunk-feed.ts";
import { failedOutcome, failureOf } from "../failure.ts";
import type { LlmOutcome, LlmUsage } from "../outcome.ts";
import type { LlmPart } from "../request.ts";

/** The outcome of an aborted call. */
export const abortedOutcome = (partial: string = "", usage?: LlmUsage): LlmOutcome =>
  failedOutcome(failureOf("aborted", "The call was aborted."), partial, usage);

/**
 * Streams an outcome that is known already, as a model would: text and reasoning word by word, the arguments of a call in up to 16
 * pieces. Resolves to the outcome, or to `aborted` with the text so far.
 */
export async function playOutcome(outcome: LlmOutcome, options: LlmCallOptions = {}): Promise<LlmOutcome> {
  const parts: readonly LlmPart[] = outcome.ok
    ? outcome.turn.parts
    : [{ type: "text", text: outcome.partial }];
  const feed = chunkFeed(options.onChunk);
  const text = await streamParts(parts, feed, options.signal);
  feed.end();
  return options.signal?.aborted ? abortedOutcome(text, outcome.usage) : outcome;
}

/**
 * Streams parts; the last one is left open for `feed.end()`. Resolves to the text that was streamed before the signal was
 * aborted.
 */
export async function streamParts(
  parts: readonly LlmPart[],
  feed: ChunkFeed,
  signal: AbortSignal | undefined,
): Promise<string> {
  let text = "";
  for (const [index, part] of parts.entries()) {
    feed.endPart(index - 1);
    const words = part.type === "text" || part.type === "reasoning" ? part.text.split(/(?<=\s)/) : [""];
    for (const word of words) {
      // Each word arrives in its own microtask, like chunks from a network.
      await Promise.resolve();
      if (signal?.aborted) return text;
      if (part.type === "text") feed.text(word, index);
      if (part.type === "reasoning") feed.reasoning(word, index);
      if (part.type === "tool-call") streamCall(part, feed, index);
      if (part.type === "text") text += word;
    }
  }
  return text;
}

/** Streams a call, whose arguments take few pieces, however long they are. */
function streamCall(
  { id, name, arguments: text }: Extract<LlmPart, { type: "tool-call" }>,
  feed: ChunkFeed,
  index: number,
): void {
  feed.toolCall(name, index, id);
  const length = Math.max(8, Math.ceil(text.length / 16));
  for (let at = 0; at < text.length; at += length) feed.toolArguments(text.slice(at, at + length), index);
}
