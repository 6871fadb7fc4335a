import { isPlanned } from "../agent-config.ts";
import { nextAttemptAt } from "../control/calls.ts";
import type { ControlOf } from "../control/control.ts";
import { withholdLoop } from "../control/done-and-error.ts";
import { climb, hasWithheldBefore, isUnansweredBefore, rungText } from "../control/ladder.ts";
import { move } from "../control/move.ts";
import { newLlmCall } from "../control/planning.ts";
import {
  addSummary,
  clearNewest,
  clearResults,
  maySummarize,
  sizesText,
  summaryEnd,
} from "../control/context-plan.ts";
import { countFailedSummary, finishReflection, reflectTaskType } from "../control/reflecting.ts";
import { closeStreamedMessage } from "../control/streamed-message.ts";
import { restoreHistory, loopWindow, leaveOutHistory } from "../control/window.ts";
import type { AgentFailure } from "../failure.ts";
import type { StateEdit } from "../state-edit.ts";
import type {
  HistoryReflectedInput,
  LlmCallFailedInput,
  LlmCallInterruptedInput,
  LlmCallStartedInput,
} from "../input.ts";
import { planKey, reflectKey } from "../keys.ts";
import type { AgentState } from "../state.ts";
import { maxTraceTextLength } from "../trace-note.ts";
import { awaitUsageOfModel } from "../unreported-usage.ts";
import type { InputHandler } from "./input-handler.ts";
import { isPaused } from "./pause.ts";

/** The key of the model call that the state wants; undefined if it wants none. */
export function llmCallKey({ reActContext: context }: AgentState): string | undefined {
  const { control } = context;
  if (control.type === "Planning" && control.retryAt === null) return planKey(context, control);
  return control.type === "Reflecting" ? reflectKey(context, control) : undefined;
}

/** The control state that wants the model call with this key; undefined if the key is not current. */
function callingState(
  state: AgentState,
  key: string,
): ControlOf<"Planning"> | ControlOf<"Reflecting"> | undefined {
  const { control } = state.reActContext;
  const isCalling = control.type === "Planning" || control.type === "Reflecting";
  return isCalling && llmCallKey(state) === key ? control : undefined;
}

export const llmCallStarted: InputHandler<LlmCallStartedInput> = (state, { key }) => {
  const control = callingState(state, key);
  if (control === undefined) return "wrong-key";
  if (control.started) return "already-started";
  if (isPaused(state)) return "paused";
  return (edit) => edit.setContext({ control: { ...control, started: true } });
};

export const llmCallInterrupted: InputHandler<LlmCallInterruptedInput> = (state, { key }) => {
  const control = callingState(state, key);
  if (control === undefined) return "wrong-key";
  return control.started ? interruptLlmCall : "not-open";
};

export const llmCallFailed: InputHandler<LlmCallFailedInput> = (state, input) => {
  const control = callingState(state, input.key);
  if (control === undefined) return "wrong-key";
  return (edit) => {
    edit.addUsage(input.usage);
    if (control.type === "Planning") failPlan(edit, control, input);
    else failReflection(edit, control, input);
  };
};

/** A summary that is too long for the model is tried with the older half of what it covers. */
function failReflection(
  edit: StateEdit,
  control: ControlOf<"Reflecting">,
  { failure }: LlmCallFailedInput,
): void {
  const covers = control.since + Math.floor((control.covers - control.since) / 2);
  const isTooLong = isPlanned(edit.config) && failure.kind === "context-length";
  if (isTooLong && maySummarize(edit, control.since, covers)) {
    const attempt = control.attempt + 1;
    return edit.setContext({ control: { ...control, covers, attempt, request: attempt, started: false } });
  }
  countFailedSummary(edit, failure.kind);
  move<"Reflecting">(edit, finishReflection(edit, false));
}

function failPlan(edit: StateEdit, control: ControlOf<"Planning">, input: LlmCallFailedInput): void {
  closeStreamedMessage(edit, input.partial ?? "");
  if (input.failure.kind === "context-length") contextExceeded(edit, control, input);
  else if (input.failure.refusedBy !== undefined) sendChanged(edit, control, input);
  else if (canRetry(edit, control, input)) retryLater(edit, control, input);
  else if (control.alone !== true && mayHistoryBeCause(edit, input)) sendLoopAlone(edit, control);
  else failLoop(edit, input);
}

/** The kinds of failures with which a server answers a history that it cannot read, and also when it has other problems. */
const unclear: ReadonlySet<string> = new Set([
  "server",
  "invalid-request",
  "malformed",
  "unknown",
  "empty",
  "interrupted",
  "timeout",
  "connection",
]);

/** Whether a failure can be caused by messages before this loop: neither it nor the loop before has got an answer. */
const mayHistoryBeCause = (edit: StateEdit, { failure }: LlmCallFailedInput): boolean =>
  isPlanned(edit.config) && unclear.has(failure.kind) && isUnansweredBefore(edit);

/** Sends this loop alone, once. If that fails as well, the cause is another one, and the window is as before. */
function sendLoopAlone(edit: StateEdit, control: ControlOf<"Planning">): void {
  leaveOutHistory(edit);
  edit.setContext({ control: { ...nextRequest(edit, control), alone: true } });
  const text = "Failed twice in a row: sent once without the messages before this one.";
  move<"Planning">(edit, { event: "LlmRetry", note: { text } });
}

export const historyReflected: InputHandler<HistoryReflectedInput> = (state, { key, summary, usage }) => {
  const control = callingState(state, key);
  if (control?.type !== "Reflecting") return "wrong-key";
  return (edit) => {
    edit.addUsage(usage);
    const text = summary.trim();
    if (text !== "") addSummary(edit, control, text);
    move<"Reflecting">(edit, finishReflection(edit, text !== ""));
  };
};

/** Whether another attempt is allowed. An empty answer is retried only once: a second one rarely has content. */
function canRetry(edit: StateEdit, control: ControlOf<"Planning">, { failure }: LlmCallFailedInput): boolean {
  const most = failure.kind === "empty" ? 2 : edit.config.retries.maxLlmAttempts;
  return failure.retryable && control.failures + 1 < most;
}

function retryLater(edit: StateEdit, control: ControlOf<"Planning">, { failure }: LlmCallFailedInput): void {
  edit.setContext({
    control: {
      ...nextRequest(edit, control),
      failures: control.failures + 1,
      retryAt: nextAttemptAt(edit, control.failures, failure.retryAfterMs),
    },
  });
}

const nextAttempt = (control: ControlOf<"Planning">): ControlOf<"Planning"> => ({
  ...control,
  attempt: control.attempt + 1,
  started: false,
  messageId: null,
  messagesSeen: control.messagesSeen + (control.messageId === null ? 0 : 1),
});

/** The next attempt with a new request, which has another idempotency key and a new limit for the answer. */
const nextRequest = (edit: StateEdit, control: ControlOf<"Planning">): ControlOf<"Planning"> => ({
  ...nextAttempt(control),
  request: control.attempt + 1,
  maxOutputTokens: newLlmCall(edit, edit.config.taskType).maxOutputTokens,
});

function contextExceeded(edit: StateEdit, control: ControlOf<"Planning">, input: LlmCallFailedInput): void {
  const { windowStart, loopStart } = edit.reActContext;
  const plans = isPlanned(edit.config);
  if (plans && (clearResults(edit, 1, 0) || clearNewest(edit))) sendShorter(edit, control);
  else if (maySummarize(edit, windowStart, summaryEnd(edit)) || windowStart < loopStart)
    move<"Planning">(edit, { event: "ContextExceeded" });
  else if (plans && clearResults(edit, 0, 0)) sendShorter(edit, control);
  else if (input.failure.refusedBy !== undefined) sendChanged(edit, control, input);
  else failLoop(edit, input);
}

function sendShorter(edit: StateEdit, control: ControlOf<"Planning">): void {
  edit.setContext({ control: nextRequest(edit, control) });
  move<"Planning">(edit, { event: "LlmRetry", note: { text: "Too long. Results are left out." } });
}

/**
 * Sends the request at once on the next rung, because its content was refused. After the last rung the loop is withheld; where the loop
 * before was withheld as well, the cause is older, and the request contains this loop alone.
 */
function sendChanged(edit: StateEdit, control: ControlOf<"Planning">, input: LlmCallFailedInput): void {
  const { failure } = input;
  const { isHigher, ladder } = climb(edit, failure);
  const { windowStart, loopStart } = edit.reActContext;
  if (!isHigher && (!hasWithheldBefore(edit) || windowStart >= loopStart)) {
    failLoop(edit, input);
    // The next loop leaves out what is too long.
    if (!isPlanned(edit.config) || failure.kind !== "context-length") withholdLoop(edit);
    return;
  }
  edit.setContext({ ...(isHigher ? {} : loopWindow(edit)), control: nextRequest(edit, control) });
  const rung = (isHigher ? rungText(ladder) : undefined) ?? "Earlier messages are left out.";
  const text = `Refused: ${failure.message.slice(0, 500).toWellFormed()} ${rung}`;
  move<"Planning">(edit, { event: "LlmRetry", note: { text: text.slice(0, maxTraceTextLength) } });
}

function failLoop(edit: StateEdit, { failure: { kind, message: said, retryAt } }: LlmCallFailedInput): void {
  const { control } = edit.reActContext;
  if (control.type === "Planning" && control.alone === true) restoreHistory(edit);
  const message = kind === "context-length" ? `${said}${sizesText(edit)}` : said;
  const failure: AgentFailure =
    kind === "NoPrice"
      ? { source: "loop", kind, message }
      : { source: "model", kind, message, ...(retryAt === undefined ? {} : { retryAt }) };
  move<"Planning">(edit, { event: "FatalError", failure });
  if (kind === "refusal" || kind === "content-filter") withholdLoop(edit);
}

/** Handles a model call that a restart interrupted: its next attempt sends the same request at once. */
export function interruptLlmCall(edit: StateEdit): void {
  const { control } = edit.reActContext;
  if (control.type !== "Reflecting" && control.type !== "Planning") return;
  closeStreamedMessage(edit, "");
  const interruptions = control.interruptions + 1;
  const isLast = interruptions >= edit.config.retries.maxLlmAttempts;
  if (control.type === "Reflecting") {
    edit.setContext({
      control: { ...control, attempt: control.attempt + 1, started: false, interruptions },
    });
    if (isLast) move<"Reflecting">(edit, finishReflection(edit, false));
    return;
  }
  edit.setContext({ control: { ...nextAttempt(control), interruptions } });
  if (!isLast) return;
  const message = `The model call was interrupted ${interruptions} times.`;
  move<"Planning">(edit, { event: "FatalError", failure: { source: "model", kind: "interrupted", message } });
}

/** Replaces the open model call after its request has changed: the new one has another key. */
export function replaceLlmCall(edit: StateEdit): void {
  const { control } = edit.reActContext;
  if (control.type === "Planning" && control.retryAt === null) {
    awaitUsageOfModel(edit);
    closeStreamedMessage(edit, "");
    edit.setContext({ control: nextRequest(edit, control) });
  }
  if (control.type === "Reflecting") {
    awaitUsageOfModel(edit);
    const attempt = control.attempt + 1;
    const { maxOutputTokens } = newLlmCall(edit, reflectTaskType);
    edit.setContext({
      control: { ...control, attempt, request: attempt, started: false, maxOutputTokens },
    });
  }
}
