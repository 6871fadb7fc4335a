import { isPlanned } from "../agent-config.ts";
import { callIdsOf } from "../control/calls.ts";
import type { ControlType } from "../control/control.ts";
import { loopEntries, taskEntryOf } from "../control/loop-entries.ts";
import { move } from "../control/move.ts";
import { restoreHistory, tryHistoryAgain } from "../control/window.ts";
import { transcriptOf } from "../collections/state-lists.ts";
import { closeStreamedMessage, streamedMessage } from "../control/streamed-message.ts";
import type { StateEdit } from "../state-edit.ts";
import type { AgentState, ContextEntry, ReActContext } from "../state.ts";
import { awaitUsageOfHandler, awaitUsageOfModel } from "../unreported-usage.ts";
import { hasUsage, noAgentUsage } from "../usage.ts";

/** Whether a loop is running: the state can change without a new user message. */
export function isLoopRunning({ config, reActContext: { control } }: AgentState): boolean {
  if (control.type === "Idle" || control.type === "Done" || control.type === "Error") return false;
  return control.type !== "Custom" || !config.graph.terminals.includes(control.name);
}

/** Starts the next loop with a user message, and with the entries that the previous loop left in the queue. */
export function openLoop(edit: StateEdit, entry: ContextEntry): void {
  const { queued } = edit.reActContext;
  startLoop(edit, {
    contextWindowSize: edit.config.window.initialSize,
    toolCallIds: [],
    step: 0,
    stepLimit: 0,
    // A state that was read from JSON has another object: what changed must not depend on it.
    ...(hasUsage(edit.reActContext.usage) ? { usage: noAgentUsage } : {}),
    loopStart: transcriptOf(edit).length,
    queued: [...queued, entry],
  });
}

/** Whether the newest loop has failed and can be tried again: its task is not withheld from requests. */
export function mayRetryLoop(state: AgentState): boolean {
  if (state.reActContext.control.type !== "Error") return false;
  const task = taskEntryOf(state);
  return task !== undefined && task.withheld !== true;
}

/**
 * Starts the next loop with the entries of the failed one, and with what it has spent: its usage, and the steps that the model has
 * answered.
 */
export function retryLoop(edit: StateEdit): void {
  const { contextWindowSize, toolCallIds, stepLimit, loopStart, queued } = edit.reActContext;
  const entries = loopEntries(edit);
  const last = entries.at(-1);
  const step = entries.findLast((entry) => entry.type === "turn")?.step ?? 0;
  // Providers read a turn at the end of a request as the beginning of the answer.
  if (last?.type === "turn" && callIdsOf(last).length === 0) edit.addNote(["triedAgain"]);
  startLoop(edit, { contextWindowSize, toolCallIds, step, stepLimit, loopStart, queued });
}

type NewLoop = Pick<
  ReActContext,
  "contextWindowSize" | "toolCallIds" | "step" | "stepLimit" | "loopStart" | "queued"
> &
  Partial<Pick<ReActContext, "usage">>;

function startLoop(edit: StateEdit, given: NewLoop): void {
  tryHistoryAgain(edit);
  const { reActContext: last, timestamp, config } = edit;
  const { control } = last;
  const wasTooLong = control.type === "Error" && control.failure.kind === "context-length";
  edit.setContext({
    ...given,
    loop: last.loop + 1,
    retryCount: 0,
    truncatedCount: 0,
    summariesFailed: 0,
    confidence: null,
    inputTokens: isPlanned(config) ? last.inputTokens : 0,
    // The loop that was too long has left out messages before it.
    widen: isPlanned(config) && wasTooLong,
    entries: 0,
    entriesSincePlan: 0,
    startedAt: timestamp,
    control: { type: "Idle" },
  });
  move<"Idle">(edit, { event: "Start" });
}

/** The states in which a running loop waits for an input. */
type Resting = Exclude<ControlType, "Idle" | "Observing" | "Done" | "Error">;

/** Cancels the running loop: settles its open calls, and keeps the streamed text for later requests. */
export function cancelLoop(edit: StateEdit, reason: string | undefined, partial: string): void {
  const open = streamedMessage(edit);
  closeStreamedMessage(edit, partial);
  const { loop, step, control } = edit.reActContext;
  if (control.type === "Planning" && control.alone === true) restoreHistory(edit);
  if (control.type === "Planning" && open?.message.streaming === true && partial.trim() !== "") {
    edit.addEntry({
      type: "turn",
      loop,
      step,
      messageId: open.message.id,
      origin: "",
      parts: [{ type: "text", text: partial }],
    });
  }
  awaitUsageOfModel(edit);
  awaitUsageOfHandler(edit);
  const message = reason ?? "The task was cancelled.";
  move<Resting>(edit, { event: "Cancelled", failure: { source: "loop", kind: "Cancelled", message } });
  edit.addNote(["cancelled"], reason);
}
