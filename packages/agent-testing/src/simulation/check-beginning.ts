import { isPaused, type AgentState } from "@moora/agent-core-state-machine";
import { openCallOf } from "@moora/agent-core-state-machine/internal";
import { isOfHandler } from "./call-ledger.ts";
import { check } from "./invariant-broken.ts";

/** What a host begins. */
export type Beginning = "model call" | "tool" | "probe" | "handler";

/**
 * V20: in a paused session nothing begins but what had started before, so that its intent is in the state. A probe and the tools
 * that a handler calls have no intents of their own, and wait. V23: below a call of a sub-agent, at every depth, nothing begins when
 * it is no longer open. `toolCallId`: of the call whose tool or probe begins; `within`: that call of the session.
 */
export function checkBeginning(
  state: AgentState,
  what: Beginning,
  toolCallId: string | undefined,
  within: string | undefined,
): void {
  const of = toolCallId === undefined ? "" : ` of call ${toolCallId}`;
  const { control } = state.reActContext;
  const isOpen = within === undefined || openCallOf(control, within)?.status.type === "running";
  check(isOpen, "V23", () => `a ${what}${of} of a sub-agent begins after call ${within} has ended`);
  if (within !== undefined || !isPaused(state)) return;
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
