import {
  inputsIn,
  type AgentChange,
  type AgentInput,
  type AgentState,
  type AgentStep,
  type ControlMove,
  type InputOf,
  type ToolCallResultInput,
} from "@moora/agent-core-state-machine";
import { answerMessageId, openCallOf, recordOf } from "@moora/agent-core-state-machine/internal";
import type { AgentEvent } from "../agent-event.ts";
import { startOf, type ToolCallStarted } from "../started-calls.ts";

/** The events of a transition, except those of its control moves and of the calls that begin with it. */
export function transitionToEvents(
  input: AgentInput,
  { state, changes }: AgentStep,
): readonly AgentEvent<never>[] {
  const events: AgentEvent<never>[] = [];
  for (const change of changes) {
    const event = changeToEvent(change);
    if (event !== undefined) events.push(event);
  }
  const dropped = events.filter(isDroppedCall).length;
  if (dropped > 0) {
    const { maxPerTurn } = state.config.toolCalls;
    const text = `Calls of this turn that were not run: ${dropped} (toolCalls.maxPerTurn is ${maxPerTurn}).`;
    events.push({ type: "LlmWarning", text });
  }
  const retry = retryOf(input, state);
  if (retry !== undefined) events.push(retry);
  return events;
}

/** The events of the calls that begin with an input, after those of its moves. */
export const startsOf = (input: AgentInput, state: AgentState): readonly ToolCallStarted[] =>
  inputsIn(input).flatMap((part) =>
    part.type === "tool-call-started" ? (startOf(state, part.toolCallId) ?? []) : [],
  );

/** Whether the event is about a call that was not run because its turn had too many. */
const isDroppedCall = (event: AgentEvent<never>): boolean =>
  event.type === "ToolCallFinished" && !event.result.isSuccess && event.result.code === "too-many-calls";

function changeToEvent(change: AgentChange): AgentEvent<never> | undefined {
  switch (change.op) {
    case "put-call": {
      const { name, result } = change.record;
      return result === null ? undefined : { type: "ToolCallFinished", toolCallId: change.id, name, result };
    }
    case "put-message":
    case "insert-message": {
      const { id, role, status } = change.message;
      if (role !== "assistant" || status === undefined) return undefined;
      return { type: "LlmAttemptEnded", messageId: id, status };
    }
    case "patch-data":
      return { type: "DataChanged", patches: change.patches };
    case "put-entry": {
      if (change.entry.type !== "handoff" || change.entry.withheld === true) return undefined;
      const { from, to, message } = change.entry;
      return { type: "HandedOff", from, to, ...(message === undefined ? {} : { message }) };
    }
    case "set-state":
      return pauseToEvent(change.fields.paused);
    case "put-open-call":
    case "remove-open-call":
    case "add-queued":
    case "add-context-calls":
    case "set-context":
      return undefined;
  }
}

/** The event of a changed pause; undefined for a change of something else. */
function pauseToEvent(paused: AgentState["paused"]): AgentEvent<never> | undefined {
  if (paused === undefined) return undefined;
  if (paused === null) return { type: "Resumed" };
  const { reason } = paused;
  return { type: "Paused", ...(reason === undefined ? {} : { reason }) };
}

export const moveToEvent = ({ to, event, step }: ControlMove): AgentEvent<never> => ({
  type: "StateStarted",
  state: to,
  event,
  step,
});

/** The event of the retry that an input has scheduled; undefined if it has scheduled none. */
export function retryOf(input: AgentInput, state: AgentState): AgentEvent<never> | undefined {
  if (input.type === "llm-call-failed") return llmRetry(input, state);
  return input.type === "tool-call-completed" ? toolRetry(input, state) : undefined;
}

function toolRetry(
  { toolCallId, result }: ToolCallResultInput,
  state: AgentState,
): AgentEvent<never> | undefined {
  if (result.isSuccess) return undefined;
  const status = openCallOf(state.reActContext.control, toolCallId)?.status;
  if (status?.type !== "retrying") return undefined;
  const name = recordOf(state, toolCallId)?.name ?? "";
  return { type: "ToolCallRetryScheduled", toolCallId, name, error: result.error, due: status.due };
}

/** The event of the retry that is scheduled after a failed attempt, with the message id of that attempt. */
function llmRetry(
  { failure }: InputOf<"llm-call-failed">,
  { reActContext }: AgentState,
): AgentEvent<never> | undefined {
  const { control } = reActContext;
  if (control.type !== "Planning" || control.retryAt === null) return undefined;
  const messageId = answerMessageId(reActContext, { ...control, attempt: control.attempt - 1 });
  const { kind: reason, message } = failure;
  return { type: "LlmRetryScheduled", messageId, due: control.retryAt, reason, message };
}
