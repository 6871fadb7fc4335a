import { budgetLeftAt, recordOf, type AgentState } from "@moora/agent-core-state-machine";
import type { CallToolEffect, ProbeToolEffect } from "../effect.ts";
import type { ToolContext } from "../tool/define-tool.ts";
import type { EffectHost } from "./host.ts";

/** The context of a tool call. `late` is aborted when its time is up. */
export function callContext(
  effect: CallToolEffect | ProbeToolEffect,
  state: AgentState,
  { sessionId, signal, notify }: EffectHost,
  late: AbortSignal,
): ToolContext {
  const { toolCallId, attempt } = effect;
  const decision = recordOf(state, toolCallId)?.decision;
  const reserved = effect.type === "call-tool" ? effect.budget : undefined;
  const budgetLeft = reserved ?? budgetLeftAt(state);
  let joined: AbortSignal | undefined;
  return {
    toolCallId,
    attempt,
    idempotencyKey: `${sessionId}/${toolCallId}`,
    ...(decision === undefined ? {} : { approvedBy: decision.by }),
    ...(budgetLeft === undefined ? {} : { budgetLeft }),
    prices: state.config.prices,
    /** Joined when it is asked for: most tools never look, and a joined signal costs more than their call. */
    get signal() {
      return (joined ??= AbortSignal.any([signal, late]));
    },
    progress: (text) => {
      if (!signal.aborted && !late.aborted) notify({ type: "tool-progress", toolCallId, text });
    },
  };
}
