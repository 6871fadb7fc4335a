import { openCallsOf } from "../collections/open-call-list.ts";
import type { AgentState } from "../state.ts";
import type { StateEdit } from "../state-edit.ts";
import { runAgain, waitsForStart } from "./admission.ts";
import { recordOf } from "../collections/state-lists.ts";
import { handlerRunsAgain } from "./custom.ts";
import { failAsUnknown, failCall, toolOf, withQuestion } from "./calls.ts";
import type { OpenCall } from "./control.ts";

/**
 * Applies the replay policy to a call whose run was interrupted. With `safe` and `keyed` the call runs again, as does a
 * call that is known not to have run. With `once` it does not run again, and its outcome counts as unknown.
 */
export function interruptCall(edit: StateEdit, call: OpenCall, outcome: "unknown" | "not-run"): void {
  const wasProbed = call.status.type === "probing";
  if (outcome === "not-run") {
    // The result of a probe is about the whole call; `not-run` of an attempt is about that attempt only.
    const mayHaveRun = call.mayHaveRun && !wasProbed;
    return runAgainOrGiveUp(edit, { ...call, mayHaveRun });
  }
  if (!wasProbed && replayOf(edit, call) !== "once")
    return runAgainOrGiveUp(edit, { ...call, mayHaveRun: true });
  settleUnknown(edit, call);
}

/** The replay policy of the tool of a call, as the agent has it now. */
export const replayOf = (state: CallState, { id }: OpenCall): "safe" | "keyed" | "once" =>
  toolOf(state, recordOf(state, id)?.name ?? "")?.replay ?? "once";

type CallState = Parameters<typeof recordOf>[0] & Parameters<typeof toolOf>[0];

/** Handles a call that may have had its effect and must not run again: asks its probe or a person, or fails it as unknown. */
export function settleUnknown(edit: StateEdit, call: OpenCall): void {
  const tool = toolOf(edit, recordOf(edit, call.id)?.name ?? "");
  const unknown = { ...call, mayHaveRun: true };
  // Also after the last attempt: only the probe can find out its outcome. It takes the place of an attempt that has not started.
  if (call.status.type !== "probing" && tool?.probe === true) {
    const attempt = waitsForStart(call.status) ? call.attempt : call.attempt + 1;
    return edit.putOpenCall({ ...unknown, attempt, status: { type: "probing" } });
  }
  if (tool?.onUnknown === "ask") return edit.putOpenCall(withQuestion(edit, unknown, "outcome"));
  failAsUnknown(edit, call.id, { reason: ["interrupted"] });
}

/** Repeats an interrupted probe. After the maximum number of attempts the outcome is unknown. */
export function interruptProbe(edit: StateEdit, call: OpenCall): void {
  if (interruptedAttempts(call) >= edit.config.retries.maxToolAttempts)
    return interruptCall(edit, call, "unknown");
  edit.putOpenCall({ ...call, attempt: call.attempt + 1 });
}

function runAgainOrGiveUp(edit: StateEdit, call: OpenCall): void {
  const interrupted = interruptedAttempts(call);
  if (isResumable(edit, call) || interrupted < edit.config.retries.maxToolAttempts)
    return runAgain(edit, call);
  failCall(edit, call.id, { code: "crash-loop", says: ["crashLoop", interrupted, call.mayHaveRun] });
}

/**
 * Whether the process that opens the session next makes the last attempt at some work that has begun: one more interruption ends
 * that work without a result. The number of attempts decides, not what interrupted them.
 */
export function isLastAttemptNext(state: AgentState): boolean {
  const { control } = state.reActContext;
  const most = state.config.retries.maxToolAttempts;
  if (control.type === "Custom" && handlerRunsAgain(state.config, control))
    return control.attempt + (control.started ? 1 : 0) === most;
  return openCallsOf(control).some((call) => {
    const { status } = call;
    const isRunning =
      status.type === "running" && replayOf(state, call) !== "once" && !isResumable(state, call);
    if (!isRunning && status.type !== "probing") return false;
    const hasBegun = status.type === "probing" || status.started;
    return interruptedAttempts(call) + (hasBegun ? 1 : 0) === most;
  });
}

/** Whether an interrupted call continues its work, however often: it makes progress, which a call that begins again may not. */
const isResumable = (state: CallState, { id }: OpenCall): boolean => {
  const tool = toolOf(state, recordOf(state, id)?.name ?? "");
  return tool?.resumable === true && tool.replay === "keyed";
};

/** The number of attempts with the current one, without those that ended by themselves: with a failure, or with a question. */
const interruptedAttempts = ({ attempt, failures = 0, asked = 0 }: OpenCall): number =>
  attempt - failures - asked;
