import { recordOf } from "../collections/state-lists.ts";
import { openCallOf } from "../collections/open-call-list.ts";
import {
  failAsUnknown,
  nextAttemptAt,
  settleCall,
  toolOf,
  toolQuestionOf,
  withoutReservation,
  withQuestion,
} from "../control/calls.ts";
import type { OpenCall } from "../control/control.ts";
import { interruptCall, replayOf } from "../control/interruptions.ts";
import { advanceBatch } from "../control/tool-batch.ts";
import { probeKey, toolKey } from "../keys.ts";
import { hasNotRun, type AgentState, type ToolCallResult } from "../state.ts";
import type { StateEdit } from "../state-edit.ts";
import { awaitUsageOf, awaitUsageOfUnfinished } from "../unreported-usage.ts";
import type {
  ToolCallAskedInput,
  ToolCallInterruptedInput,
  ToolCallResultInput,
  ToolCallStartedInput,
} from "../input.ts";
import { patchedData } from "./data.ts";
import { handOver } from "./handoff.ts";
import type { IgnoredReason, InputHandler } from "./input-handler.ts";
import { isPaused } from "./pause.ts";

const openCall = (state: AgentState, id: string): OpenCall | undefined =>
  openCallOf(state.reActContext.control, id);

const ignoredReasonOfCall = (state: AgentState, id: string): IgnoredReason =>
  recordOf(state, id) === undefined ? "unknown-call" : "not-open";

export const toolCallStarted: InputHandler<ToolCallStartedInput> = (state, input) => {
  const { toolCallId, attempt, reportsUsage } = input;
  const call = openCall(state, toolCallId);
  if (call?.status.type !== "running") return ignoredReasonOfCall(state, toolCallId);
  if (call.attempt !== attempt) return "wrong-attempt";
  if (call.status.started) return "already-started";
  if (isPaused(state)) return "paused";
  const reports = reportsUsage === undefined ? {} : { reportsUsage };
  return (edit) => edit.putOpenCall({ ...call, status: { type: "running", started: true, ...reports } });
};

export const toolCallCompleted: InputHandler<ToolCallResultInput> = (state, input) => {
  const { toolCallId, key, result, retryable, usage, patches = [], handoff, usageFollows } = input;
  const call = openCall(state, toolCallId);
  if (call === undefined || !takesResult(state, call)) return ignoredReasonOfCall(state, toolCallId);
  if (key !== undefined && key !== keyOf(call)) return "wrong-key";
  if (result.isSuccess && handoff !== undefined) {
    return (edit) => {
      edit.addToolUsage(usage);
      handOver(edit, toolCallId, result, handoff);
    };
  }
  const data = patchedData(state, patches);
  if (typeof data === "string") return data;
  return (edit) => {
    if (data !== undefined) edit.setData(data.value, patches);
    edit.addToolUsage(usage);
    if (!result.isSuccess && result.code === "timeout") awaitUsageOf(edit, call);
    else if (usageFollows === true) awaitUsageOfUnfinished(edit, call);
    // A result without a key is final: it could arrive again, and would count as that of the next attempt.
    const isFinal = result.isSuccess || retryable !== true || key === undefined;
    if (!isFinal && mayRetry(edit, call)) retryLater(edit, call);
    else if (call.mayHaveRun && hasNotRun(result))
      failAsUnknown(edit, toolCallId, { error: errorOf(result) });
    else settleCall(edit, toolCallId, result);
    advanceBatch(edit);
  };
};

/** Whether a result settles a call. One that asks a person is settled by a decision, except where its tool asks. */
const takesResult = (state: AgentState, call: OpenCall): boolean =>
  call.status.type !== "asking" || toolQuestionOf(state, call) !== undefined;

export const toolCallAsked: InputHandler<ToolCallAskedInput> = (state, input) => {
  const { toolCallId, key, question, answerSchema, state: kept, digest, usage } = input;
  const call = openCall(state, toolCallId);
  const record = recordOf(state, toolCallId);
  if (call?.status.type !== "running" || record === undefined) return ignoredReasonOfCall(state, toolCallId);
  if (key !== keyOf(call)) return "wrong-key";
  const schema = answerSchema === undefined ? {} : { answerSchema };
  return (edit) => {
    edit.addToolUsage(usage);
    edit.putCall(toolCallId, { ...record, asked: { question, ...schema, state: kept, reply: null } });
    const asks = { ...withoutReservation(call), mayHaveRun: true };
    edit.putOpenCall(withQuestion(edit, asks, "answer", digest));
    advanceBatch(edit);
  };
};

/** Whether a call that has failed is repeated: its tool says so, and may run more than once. */
function mayRetry(edit: StateEdit, call: OpenCall): boolean {
  const { id, status, failures = 0 } = call;
  const retries = toolOf(edit, recordOf(edit, id)?.name ?? "")?.retries ?? 0;
  return status.type === "running" && replayOf(edit, call) !== "once" && failures < retries;
}

/** Plans the next attempt of a call. The slot and the reservation of the one that failed are free until then. */
function retryLater(edit: StateEdit, failed: OpenCall): void {
  const { failures = 0 } = failed;
  edit.putOpenCall({
    ...withoutReservation(failed),
    mayHaveRun: true,
    failures: failures + 1,
    status: { type: "retrying", due: nextAttemptAt(edit, failures) },
  });
}

const errorOf = (result: ToolCallResult): string => (result.isSuccess ? "" : result.error);

const keyOf = (call: OpenCall): string | undefined => {
  if (call.status.type === "running") return toolKey(call);
  return call.status.type === "probing" ? probeKey(call) : undefined;
};

export const toolCallInterrupted: InputHandler<ToolCallInterruptedInput> = (
  state,
  { toolCallId, attempt, outcome },
) => {
  const call = openCall(state, toolCallId);
  const isUnderWay =
    call?.status.type === "probing" || (call?.status.type === "running" && call.status.started);
  if (call === undefined || !isUnderWay) return ignoredReasonOfCall(state, toolCallId);
  if (call.attempt !== attempt) return "wrong-attempt";
  return (edit) => {
    interruptCall(edit, call, outcome);
    advanceBatch(edit);
  };
};
