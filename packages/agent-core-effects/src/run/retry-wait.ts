import type { AgentState } from "@moora/agent-core-state-machine";
import { waitAt } from "@moora/agent-core-state-machine/internal";
import type { AgentEffect } from "../effect.ts";

/** Whether the effect waits to make a call of a model or a tool again: that is work. All other waits are those of an open question. */
export function isRetryWait({ key }: Pick<AgentEffect, "key">, state: AgentState): boolean {
  const type = waitAt(state, key)?.type;
  return type === "retry" || type === "tool-retry";
}
