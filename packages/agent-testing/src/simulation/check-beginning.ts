import { isPaused, type AgentState } from "@moora/agent-core-state-machine";
import { openCallOf } from "@moora/agent-core-state-machine/internal";
import { isOfHandler } from "./call-ledger.ts";
import { check } from "./invariant-broken.ts";

/** What a host begins. */
export type Beginning = "model call" | "tool" | "probe" | "handler";

/**
 * V20: in a paused session nothing begins but what had started before, so that its intent is in the state. A probe and the tools
 * that a handler calls have no intents of their own, and wait. `toolCallId`: of the call whose tool or probe begins.
 */
export function checkBeginning(state: AgentState, what: Beginning, toolCallId: string | undefined): void {
  if (!isPaused(state)) return;
  const of = toolCallId === undefined ? "" : ` of call ${toolCallId}`;
  check(hasStarted(state, what, toolCallId), "V20", () => `a ${what}${of} begins in a pause`);
}

function hasStarted(
  { reActContext: { control } }: AgentState,
  what: Beginning,
  toolCallId: string | undefined,
): boolean {
  if (what === "probe" || (toolCallId !== undefined && isOfHandler(toolCallId))) return false;
  if (toolCallId === undefined) return "started" in control && control.started;
  const status = openCallOf(control, toolCallId)?.status;
  return status?.type === "running" && status.started;
}
