import type { AgentState } from "@moora/agent-core-state-machine";
import { waitAt } from "@moora/agent-core-state-machine/internal";
import type { AgentEffect } from "../effect.ts";

/** Whether the effect waits to make a model call again: that is work. All other waits are those of an open question. */
export const isRetryWait = ({ key }: Pick<AgentEffect, "key">, state: AgentState): boolean =>
  waitAt(state, key)?.type === "retry";
