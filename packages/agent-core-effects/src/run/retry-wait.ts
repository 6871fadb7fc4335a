import { waitsAt, type AgentState } from "@moora/agent-core-state-machine";
import type { AgentEffect } from "../effect.ts";

/** Whether the effect waits to make a model call again: that is work. All other waits are those of an open question. */
export const isRetryWait = ({ key }: Pick<AgentEffect, "key">, state: AgentState): boolean =>
  waitsAt(state).some((wait) => wait.type === "retry" && wait.key === key);
