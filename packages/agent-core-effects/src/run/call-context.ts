import type { AgentState, Spending } from "@moora/agent-core-state-machine";
import { budgetLeftAt, recordOf } from "@moora/agent-core-state-machine/internal";
import type { CallToolEffect, ProbeToolEffect } from "../effect.ts";
import type { ToolContext } from "../tool/define-tool.ts";
import { isAborted, type LazyAbort } from "./abort.ts";
import type { EffectHost } from "./host.ts";

/** The parts of a context that differ from call to call. */
export interface CallDetails {
  readonly toolCallId: string;
  readonly attempt: number;
  readonly approvedBy?: string | undefined;
  readonly budgetLeft: Spending | undefined;
}

/** The context of a call of the model. `late` is aborted on time-out. */
export function callContext(
  effect: CallToolEffect | ProbeToolEffect,
  state: AgentState,
  host: EffectHost,
  late: LazyAbort,
): ToolContext {
  const { toolCallId, attempt } = effect;
  const approvedBy = recordOf(state, toolCallId)?.decision?.by;
  const reserved = effect.type === "call-tool" ? effect.budget : undefined;
  const budgetLeft = reserved ?? budgetLeftAt(state);
  return contextOf({ toolCallId, attempt, approvedBy, budgetLeft }, state, host, late);
}

/** The context of any call. Progress that is reported after the abort or the time-out is dropped. */
export function contextOf(
  { toolCallId, attempt, approvedBy, budgetLeft }: CallDetails,
  { config }: AgentState,
  host: EffectHost,
  late: LazyAbort,
): ToolContext {
  const { sessionId, notify } = host;
  let joined: AbortSignal | undefined;
  return {
    toolCallId,
    attempt,
    idempotencyKey: `${sessionId}/${toolCallId}`,
    ...(approvedBy === undefined ? {} : { approvedBy }),
    ...(budgetLeft === undefined ? {} : { budgetLeft }),
    prices: config.prices,
    /** Joined on the first access: most tools do not read it, and joining signals is slow. */
    get signal() {
      return (joined ??= AbortSignal.any([host.signal, late.signal]));
    },
    progress: (text) => {
      if (!isAborted(host) && !late.isAborted) notify({ type: "tool-progress", toolCallId, text });
    },
  };
}
