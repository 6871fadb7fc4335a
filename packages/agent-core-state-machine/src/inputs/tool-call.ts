import { failAsUnknown, openCallOf, recordOf, replaceCall, settleCall } from "../control/calls.ts";
import type { OpenCall } from "../control/control.ts";
import { interruptCall } from "../control/interruptions.ts";
import { advanceBatch } from "../control/tool-batch.ts";
import { probeKey, toolKey } from "../keys.ts";
import { hasNotRun, type AgentState, type ToolCallResult } from "../state.ts";
import { awaitUsageOf } from "../unreported-usage.ts";
import type { ToolCallInterruptedInput, ToolCallResultInput, ToolCallStartedInput } from "../input.ts";
import type { IgnoredReason, InputHandler } from "./input-handler.ts";

const openCall = (state: AgentState, id: string): OpenCall | undefined =>
  openCallOf(state.reActContext.control, id);

const ignoredReasonOfCall = (state: AgentState, id: string): IgnoredReason =>
  recordOf(state, id) === undefined ? "unknown-call" : "not-open";

export const toolCallStarted: InputHandler<ToolCallStartedInput> = {
  whyNot(state, { toolCallId, attempt }) {
    const call = openCall(state, toolCallId);
    if (call?.status.type !== "running") return ignoredReasonOfCall(state, toolCallId);
    if (call.attempt !== attempt) return "wrong-attempt";
    return call.status.started ? "already-started" : undefined;
  },
  apply(edit, { toolCallId }) {
    const call = openCall(edit, toolCallId);
    if (call !== undefined) replaceCall(edit, { ...call, status: { type: "running", started: true } });
  },
};

export const toolCallCompleted: InputHandler<ToolCallResultInput> = {
  whyNot(state, { toolCallId, key }) {
    const call = openCall(state, toolCallId);
    if (call === undefined || call.status.type === "asking") return ignoredReasonOfCall(state, toolCallId);
    return key === undefined || key === keyOf(call) ? undefined : "wrong-key";
  },
  apply(edit, { toolCallId, result, usage }) {
    edit.addToolUsage(usage);
    const call = openCall(edit, toolCallId);
    if (call !== undefined && !result.isSuccess && result.code === "timeout") awaitUsageOf(edit, call);
    if (call?.mayHaveRun === true && hasNotRun(result)) failAsUnknown(edit, toolCallId, errorOf(result));
    else settleCall(edit, toolCallId, result);
    advanceBatch(edit);
  },
};

const errorOf = (result: ToolCallResult): string => (result.isSuccess ? "" : result.error);

const keyOf = (call: OpenCall): string | undefined => {
  if (call.status.type === "running") return toolKey(call);
  return call.status.type === "probing" ? probeKey(call) : undefined;
};

export const toolCallInterrupted: InputHandler<ToolCallInterruptedInput> = {
  whyNot(state, { toolCallId, attempt }) {
    const call = openCall(state, toolCallId);
    const underWay =
      call?.status.type === "probing" || (call?.status.type === "running" && call.status.started);
    if (call === undefined || !underWay) return ignoredReasonOfCall(state, toolCallId);
    return call.attempt === attempt ? undefined : "wrong-attempt";
  },
  apply(edit, { toolCallId, outcome }) {
    const call = openCall(edit, toolCallId);
    if (call !== undefined) interruptCall(edit, call, outcome);
    advanceBatch(edit);
  },
};
