import type { AgentMessage } from "@moora/agent-webui-protocol";

interface MessageIndex {
  readonly positions: Map<string, number>;
  /** How many messages, from the first on, the map knows. */
  scanned: number;
}

/**
 * Where each message of a list stands: a memo beside the newest list of a lineage, so that a look-up does not cost the
 * length of the conversation. It decides nothing: an older list, or one that was changed in the middle, is read anew.
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

/** A copy of the list that takes the memo over; the old list, if it is used again, is read anew. */
export function copyOfMessages(messages: readonly AgentMessage[]): AgentMessage[] {
  const copy = messages.slice();
  const index = indices.get(messages);
  if (index !== undefined) {
    indices.delete(messages);
    indices.set(copy, index);
  }
  return copy;
}

/** To be called when a message was put between others. */
export const forgetPositions = (messages: readonly AgentMessage[]): void => {
  indices.delete(messages);
};
