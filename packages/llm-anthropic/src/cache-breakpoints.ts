import type { CacheControlEphemeral, ContentBlockParam } from "@anthropic-ai/sdk/resources/messages";

import type { BlockTurn } from "./message-to-blocks.ts";

/** How many blocks before a breakpoint are searched for what an earlier request wrote, with some to spare. */
const lookbackBlocks = 16;

/**
 * A breakpoint where the request before this one ended, but only when the one at the end cannot reach so far back: a
 * turn with many calls. Elsewhere messages stay without marks, so that they stay the same bytes.
 */
export function withBreakpoint(
  messages: readonly BlockTurn[],
  cache_control: CacheControlEphemeral,
): BlockTurn[] {
  const lastTurn = messages.findLastIndex(({ role }) => role === "assistant");
  const added = messages.slice(lastTurn).reduce((blocks, { content }) => blocks + content.length, 0);
  const before = messages[lastTurn - 1];
  if (before === undefined || added <= lookbackBlocks) return [...messages];
  const content = before.content.map((block, index, blocks) =>
    index === blocks.length - 1 ? withCacheControl(block, cache_control) : block,
  );
  return messages.with(lastTurn - 1, { ...before, content });
}

const withCacheControl = (
  block: ContentBlockParam,
  cache_control: CacheControlEphemeral,
): ContentBlockParam =>
  block.type === "thinking" || block.type === "redacted_thinking" ? block : { ...block, cache_control };
