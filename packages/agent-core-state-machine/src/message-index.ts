import type { AgentMessage } from "@moora/agent-webui-protocol";

interface MessageIndex {
  readonly positions: Map<string, number>;
  /** The number of messages, from the first on, that the map contains. */
  scanned: number;
}

/**
 * A cache of the position of each message in a list, kept for its newest copy, so that the cost of a look-up does not
 * depend on the length of the conversation. For an older list, or after an insertion, it is built again.
 */
const indices = new WeakMap<readonly AgentMessage[], MessageIndex>();

/** The position of the message with this id, or -1. */
export function messagePosition(messages: readonly AgentMessage[], id: string): number {
  let index = indices.get(messages);
  if (index === undefined) {
    index = { positions: new Map(), scanned: 0 };
    indices.set(messages, index);
  }
  for (; index.scanned < messages.length; index.scanned += 1) {
    const message = messages[index.scanned];
    if (message !== undefined) index.positions.set(message.id, index.scanned);
  }
  return index.positions.get(id) ?? -1;
}

/** Returns a copy of the list and moves the cache to it. For the old list it would be built again. */
export function copyOfMessages(messages: readonly AgentMessage[]): AgentMessage[] {
  const copy = messages.slice();
  const index = indices.get(messages);
  if (index !== undefined) {
    indices.delete(messages);
    indices.set(copy, index);
  }
  return copy;
}

/** Drops the cache of a list. Call it after a message was inserted between others. */
export const forgetPositions = (messages: readonly AgentMessage[]): void => {
  indices.delete(messages);
};
