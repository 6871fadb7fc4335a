import type { ControlOf } from "../control/control.ts";
import { withholdLoop } from "../control/ended.ts";
import { move } from "../control/move.ts";
import { canCompress, reflectionOver } from "../control/reflecting.ts";
import { closeStreamedMessage } from "../control/streamed-message.ts";
import type { Edit } from "../edit.ts";
import type { HistoryReflectedInput, LlmCallFailedInput, LlmCallStartedInput } from "../input.ts";
import { planKey, reflectKey } from "../keys.ts";
import type { AgentState } from "../state.ts";
import type { Row } from "./row.ts";

/** The key of the model call that is wanted now, if one is. */
export function llmCallKey({ reActContext: context }: AgentState): string | undefined {
  const { control } = context;
  if (control.type === "Planning" && control.retryAt === null) return planKey(context, control);
  return control.type === "Reflecting" ? reflectKey(context, control) : undefined;
}

export const llmCallStarted: Row<LlmCallStartedInput> = {
  whyNot(state, { key }) {
    if (llmCallKey(state) !== key) return "wrong-key";
    const { control } = state.reActContext;
    return "started" in control && control.started ? "already-started" : undefined;
  },
  apply(edit) {
    const { control } = edit.reActContext;
    if ("started" in control) edit.setContext({ control: { ...control, started: true } });
  },
};

export const llmCallFailed: Row<LlmCallFailedInput> = {
  whyNot: (state, { key }) => (llmCallKey(state) === key ? undefined : "wrong-key"),
  apply(edit, input) {
    edit.addUsage(input.usage);
    const { control } = edit.reActContext;
    if (control.type === "Reflecting") move(edit, reflectionOver(edit, false));
    if (control.type !== "Planning") return;
    closeStreamedMessage(edit, input.partial ?? "");
    if (input.failure.kind === "context-length") contextExceeded(edit, input);
    else if (triesAgain(edit, control, input)) tryLater(edit, control, input);
    else giveUp(edit, input);
  },
};

export const historyReflected: Row<HistoryReflectedInput> = {
  whyNot(state, { key }) {
    return state.reActContext.control.type === "Reflecting" && llmCallKey(state) === key
      ? undefined
      : "wrong-key";
  },
  apply(edit, { summary, usage }) {
    const { control } = edit.reActContext;
    if (control.type !== "Reflecting") return;
    edit.addUsage(usage);
    const text = summary.trim();
    if (text !== "") edit.addEntry({ type: "summary", text, since: control.since, until: control.covers });
    move(edit, reflectionOver(edit, text !== ""));
  },
};

const failuresSoFar = ({ attempt, interruptions }: ControlOf<"Planning">): number => attempt - interruptions;

/** An answer without content is asked for once more only: models that are silent twice stay silent. */
function triesAgain(edit: Edit, control: ControlOf<"Planning">, { failure }: LlmCallFailedInput): boolean {
  const most = failure.kind === "empty" ? 2 : edit.config.maxLlmAttempts;
  return failure.retryable && failuresSoFar(control) < most;
}

function tryLater(edit: Edit, control: ControlOf<"Planning">, { failure }: LlmCallFailedInput): void {
  const { retryDelayMs, maxRetryDelayMs } = edit.config;
  const delay = failure.retryAfterMs ?? retryDelayMs * 2 ** (failuresSoFar(control) - 1);
  edit.setContext({
    control: {
      ...nextAttempt(control),
      retryAt: edit.timestamp + Math.min(delay, maxRetryDelayMs),
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

function contextExceeded(edit: Edit, input: LlmCallFailedInput): void {
  const { windowStart, loopStart } = edit.reActContext;
  if (canCompress(edit, windowStart) || windowStart < loopStart) move(edit, { event: "ContextExceeded" });
  else giveUp(edit, input);
}

function giveUp(edit: Edit, { failure: { kind, message } }: LlmCallFailedInput): void {
  move(edit, { event: "FatalError", failure: { kind, message, from: "Planning", event: "FatalError" } });
  if (kind === "refusal" || kind === "content-filter") withholdLoop(edit);
}

/** The open model call is broken off, by a restart or a new configuration; the next attempt begins at once. */
export function interruptLlmCall(edit: Edit): void {
  const { control } = edit.reActContext;
  if (control.type === "Reflecting") {
    edit.setContext({ control: { ...control, attempt: control.attempt + 1, started: false } });
    if (control.attempt >= edit.config.maxLlmAttempts) move(edit, reflectionOver(edit, false));
  }
  if (control.type !== "Planning") return;
  closeStreamedMessage(edit, "");
  const interruptions = control.interruptions + 1;
  edit.setContext({ control: { ...nextAttempt(control), interruptions } });
  if (interruptions < edit.config.maxLlmAttempts) return;
  const message = `The model call was interrupted ${interruptions} times.`;
  move(edit, { event: "FatalError", failure: { kind: "interrupted", message } });
}
