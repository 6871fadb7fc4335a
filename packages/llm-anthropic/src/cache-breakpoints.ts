import type { CacheControlEphemeral, ContentBlockParam } from "@anthropic-ai/sdk/resources/messages";

import type { BlockTurn } from "./message-to-blocks.ts";

/** How many blocks before a breakpoint the provider searches for a cached prefix, with a margin. */
const lookbackBlocks = 16;

/**
 * Adds a cache breakpoint at the end of the previous request, if the breakpoint at the end is too far away to find its prefix:
 * after a turn with many calls. Other messages get no breakpoint, so that their bytes do not change.
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
