import { isPaused, type AgentState } from "@moora/agent-core-state-machine";
import { openCallOf } from "@moora/agent-core-state-machine/internal";
import { isOfHandler } from "./call-ledger.ts";
import { check } from "./invariant-broken.ts";

/** What a host begins. */
export type Beginning = "model call" | "tool" | "probe" | "handler";

/** What a beginning belongs to. */
export interface BeginningOf {
  /** The call whose tool or probe begins. */
  readonly toolCallId: string | undefined;
  /** The call of the simulated session whose sub-agent begins it; undefined for the session itself. */
  readonly within: string | undefined;
}

/**
 * V20: in a paused session nothing begins but what had started before, so that its intent is in the state. A probe and the tools
 * that a handler calls have no intents of their own, and wait. V23: below a call, at whatever depth, nothing begins when it is no
 * longer open.
 */
export function checkBeginning(
  state: AgentState,
  what: Beginning,
  { toolCallId, within }: BeginningOf,
): void {
  const of = toolCallId === undefined ? "" : ` of call ${toolCallId}`;
  if (within !== undefined) {
    const status = openCallOf(state.reActContext.control, within)?.status.type;
    check(
      status === "running",
      "V23",
      () => `a ${what}${of} of a sub-agent begins after call ${within} has ended`,
    );
  } else if (isPaused(state))
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
