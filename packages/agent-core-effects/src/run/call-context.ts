import { recordOf, type AgentState } from "@moora/agent-core-state-machine";
import type { CallToolEffect, ProbeToolEffect } from "../effect.ts";
import type { ToolContext } from "../tool/define-tool.ts";
import type { RunHost } from "./agent-parts.ts";
import { budgetLeftAt } from "./budget-left.ts";

/** What a tool is told of its call. `late` is aborted when its time is up. */
export function callContext(
  { toolCallId, attempt }: CallToolEffect | ProbeToolEffect,
  state: AgentState,
  { sessionId, signal, notify }: RunHost,
  late: AbortSignal,
): ToolContext {
  const decision = recordOf(state, toolCallId)?.decision;
  const budgetLeft = budgetLeftAt(state);
  let joined: AbortSignal | undefined;
  return {
    toolCallId,
    attempt,
    idempotencyKey: `${sessionId}/${toolCallId}`,
    ...(decision === undefined ? {} : { approvedBy: decision.by }),
    ...(budgetLeft === undefined ? {} : { budgetLeft }),
    /** Joined when it is asked for: most tools never look, and a joined signal costs more than their call. */
    get signal() {
      return (joined ??= AbortSignal.any([signal, late]));
    },
    progress: (text) => {
      if (!signal.aborted && !late.aborted) notify({ type: "tool-progress", toolCallId, text });
    },
  };
}
