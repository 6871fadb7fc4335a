import { messagesOf } from "../collections/state-lists.ts";
import type { ContextEntry } from "../state.ts";
import type { StateEdit } from "../state-edit.ts";
import { budgetExceeded, isNearlySpent, outputLimitAt } from "../budget.ts";
import { loopFailure } from "../failure.ts";
import { awaitUsageOfCalls } from "../unreported-usage.ts";
import { abandonCall, unansweredIds } from "./calls.ts";
import { moveWindow, shortenContext } from "./context-plan.ts";
import type { ControlOf } from "./control.ts";
import type { EnterState, FiredEvent } from "./enter.ts";
import { loopEntries } from "./loop-entries.ts";
import { limitRepeatedCalls } from "./repeated-calls.ts";
import { nextStateName } from "./transition-table.ts";

/** Enters `Planning`: fixes the next request, with the queued entries, the next step and the window. */
export const enterPlanning: EnterState<"Planning"> = (edit, { event }) => {
  const { control } = edit.reActContext;
  if (event === "LlmRetry" && control.type === "Planning") {
    // The usage of failed attempts counts.
    if (budgetExceeded(edit)) return failed("BudgetExceeded");
    edit.setContext({ control: { ...control, retryAt: null } });
    return undefined;
  }
  awaitUsageOfCalls(edit);
  for (const id of unansweredIds(edit)) abandonCall(edit, id);
  const { step } = edit.reActContext;
  if (appendQueued(edit)) edit.setContext({ stepLimit: step + edit.config.limits.maxSteps });
  const { stepLimit } = edit.reActContext;
  if (step >= stepLimit) return failed("MaxSteps");
  if (budgetExceeded(edit)) return failed("BudgetExceeded");
  const repeated = limitRepeatedCalls(edit);
  if (repeated !== undefined) return repeated;
  showData(edit);
  warnOfBudget(edit);
  const canSummarize = event !== "ReflectDone" && leadsOn(edit, "ContextExceeded");
  if (shortenContext(edit, canSummarize)) return { event: "ContextExceeded" };
  if (step + 1 === stepLimit && hasTools(edit)) edit.addNote(["lastStep"]);
  moveWindow(edit);
  edit.setContext({
    step: step + 1,
    entriesSincePlan: 0,
    control: planning(edit),
  });
  return undefined;
};

/** Whether an event has a row in Planning: an agent may have removed it. */
const leadsOn = ({ config }: StateEdit, event: string): boolean =>
  nextStateName(config.graph, "Planning", event) !== undefined;

const failed = (event: "MaxSteps" | "BudgetExceeded"): FiredEvent<"Planning"> => ({
  event,
  failure: loopFailure(event),
});

/** The fields of a new model call, with the limit of its answer from the current budget. */
export const newLlmCall = (edit: StateEdit, taskType: string) => ({
  attempt: 1,
  request: 1,
  interruptions: 0,
  started: false,
  maxOutputTokens: outputLimitAt(edit, taskType),
});

const planning = (edit: StateEdit): ControlOf<"Planning"> => ({
  type: "Planning",
  ...newLlmCall(edit, edit.config.taskType),
  failures: 0,
  retryAt: null,
  messageId: null,
  messagesSeen: messagesOf(edit).length,
});

/** Moves the queued entries to the transcript. Returns whether a user message is among them. */
function appendQueued(edit: StateEdit): boolean {
  const { queued } = edit.reActContext;
  if (queued.length === 0) return false;
  for (const entry of queued) edit.addEntry(entry);
  edit.setContext({ queued: [] });
  return queued.some((entry) => entry.type === "message");
}

/** Adds a note with the application data if it has changed since the last one. */
function showData(edit: StateEdit): void {
  const { dataStatus } = edit;
  if (edit.config.showData !== "changed" || dataStatus === null || dataStatus.isShown) return;
  edit.addNote(["data"], JSON.stringify(edit.data));
  edit.set({ dataStatus: { ...dataStatus, isShown: true } });
}

/** Adds a note when the budget is nearly spent. It stands once in a loop. */
function warnOfBudget(edit: StateEdit): void {
  if (!isNearlySpent(edit)) return;
  const isWarning = (entry: ContextEntry): boolean =>
    entry.type === "note" && entry.says?.[0] === "budgetNearlySpent";
  if (!loopEntries(edit).some(isWarning)) edit.addNote(["budgetNearlySpent"]);
}

const hasTools = ({ tools }: StateEdit): boolean => {
  for (const name in tools) if (Object.hasOwn(tools, name)) return true;
  return false;
};
