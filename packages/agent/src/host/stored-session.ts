import type { AgentState } from "@moora/agent-core-state-machine";
import { noAgentUsage } from "@moora/agent-core-state-machine/internal";
import type { ChainHead } from "@moora/event-log";
import type { FoldedSession } from "./folded-session.ts";

/** A folded session as plain JSON, for a host that keeps the state beside the records. */
export interface StoredSession {
  readonly state: AgentState;
  readonly head: ChainHead;
  /** Whether the running loop has used nothing. The digest of the next record depends on it. */
  readonly isUnused: boolean;
}

/** A folded session as plain JSON. */
export const sessionToStored = ({ state, head }: FoldedSession): StoredSession => ({
  state,
  head,
  isUnused: state.reActContext.usage === noAgentUsage,
});

/** A folded session from JSON. A session that continues from it has the same records as one that was never stored. */
export function storedToSession({ state, head, isUnused }: StoredSession): FoldedSession {
  if (!isUnused) return { state, head };
  return { state: { ...state, reActContext: { ...state.reActContext, usage: noAgentUsage } }, head };
}
