import type { LlmCallOptions } from "../caller.ts";
import { chunkFeed, type ChunkFeed } from "../chunk-feed.ts";
import { failedOutcome, failureOf } from "../failure.ts";
import type { LlmOutcome, LlmUsage } from "../outcome.ts";
import type { LlmPart } from "../request.ts";

/** The outcome of an aborted call. */
export const abortedOutcome = (partial: string = "", usage?: LlmUsage): LlmOutcome =>
  failedOutcome(failureOf("aborted", "The call was aborted."), partial, usage);

/**
 * Streams an outcome that is known already, as a model would: text and reasoning word by word, calls by their names. Resolves to
 * the outcome, or to `aborted` with the text so far.
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

/** Streams parts. Resolves to the text that was streamed before the signal was aborted. */
export async function streamParts(
  parts: readonly LlmPart[],
  feed: ChunkFeed,
  signal: AbortSignal | undefined,
): Promise<string> {
  let text = "";
  for (const part of parts) {
    const words = part.type === "text" || part.type === "reasoning" ? part.text.split(/(?<=\s)/) : [""];
    for (const word of words) {
      // Each word arrives in its own microtask, like chunks from a network.
      await Promise.resolve();
      if (signal?.aborted) return text;
      if (part.type === "text") feed.text(word);
      if (part.type === "reasoning") feed.reasoning(word);
      if (part.type === "tool-call") feed.toolCall(part.name);
      if (part.type === "text") text += word;
    }
  }
  return text;
}
