import { recordOf } from "../collections/state-lists.ts";

import type { ControlOf } from "../control/control.ts";
import { stateKey } from "../keys.ts";
import type { AgentState } from "../state.ts";
import { move } from "../control/move.ts";
import { hiddenAmong } from "../control/offered-tools.ts";
import { isLoopRunning } from "./loop.ts";
import type {
  AddContextNoteInput,
  AddToolCallsToContextInput,
  ExpandContextWindowInput,
  LlmChunkInput,
  StateHandledInput,
  StateHandlerStartedInput,
  ToolsFoundInput,
} from "../input.ts";
import { replace } from "../control/replace.ts";
import { patchedData } from "./data.ts";
import type { InputHandler } from "./input-handler.ts";
import { isPaused } from "./pause.ts";
import { awaitUsageOfHandler } from "../unreported-usage.ts";

export const contextWindowExpanded: InputHandler<ExpandContextWindowInput> = (state) => {
  if (!isLoopRunning(state)) return "no-loop";
  const contextWindowSize = state.reActContext.contextWindowSize + state.config.window.expandBy;
  return (edit) => edit.setContext({ contextWindowSize, widen: true });
};

export const historyToolCallsAdded: InputHandler<AddToolCallsToContextInput> = (state, { toolCallIds }) => {
  if (!isLoopRunning(state)) return "no-loop";
  if (!toolCallIds.every((id) => isAnswered(state, id))) return "unknown-call";
  const ids = [...new Set(toolCallIds)];
  const known = new Set(state.reActContext.toolCallIds);
  const added = ids.filter((id) => !known.has(id));
  return (edit) => {
    edit.addQueued({ type: "tool-calls", toolCallIds: ids });
    if (added.length > 0) edit.addContextCalls(added);
  };
};

const isAnswered = (state: AgentState, id: string): boolean => (recordOf(state, id)?.result ?? null) !== null;

/** The open request stays as it is. A tool that is found again after it gave way to newer ones is the newest. */
export const toolsFound: InputHandler<ToolsFoundInput> = (state, { names }) => {
  if (!isLoopRunning(state)) return "no-loop";
  const added = hiddenAmong(state, names);
  if (added.length === 0) return "nothing-new";
  const { foundTools = [], seen: since } = state.reActContext;
  const others = foundTools.filter(({ name }) => !added.includes(name));
  return (edit) => edit.setContext({ foundTools: [...others, ...added.map((name) => ({ name, since }))] });
};

export const contextNoteAdded: InputHandler<AddContextNoteInput> = (state, { text }) => {
  if (!isLoopRunning(state)) return "no-loop";
  if (text.trim() === "") return "blank";
  return (edit) => edit.addQueued({ type: "note", text });
};

/** The custom state whose handler has this key. */
function handledState(state: AgentState, key: string): ControlOf<"Custom"> | undefined {
  const { control } = state.reActContext;
  if (control.type !== "Custom" || !isLoopRunning(state)) return undefined;
  return stateKey(state.reActContext, control) === key ? control : undefined;
}

export const stateHandlerStarted: InputHandler<StateHandlerStartedInput> = (state, { key }) => {
  const control = handledState(state, key);
  if (control === undefined) return "wrong-key";
  if (control.started) return "already-started";
  if (isPaused(state)) return "paused";
  return (edit) => edit.setContext({ control: { ...control, started: true } });
};

export const stateHandled: InputHandler<StateHandledInput> = (state, input) => {
  const { key, event, note, reason = note, trace, usage, usageFollows, patches = [], replaced = [] } = input;
  if (handledState(state, key) === undefined) return "wrong-key";
  const data = patchedData(state, patches);
  if (typeof data === "string") return data;
  return (edit) => {
    if (data !== undefined) edit.setData(data.value, patches);
    edit.addToolUsage(usage);
    if (usageFollows === true) awaitUsageOfHandler(edit);
    for (const replacement of replaced) replace(edit, replacement);
    if (note !== undefined && note.trim() !== "") edit.addEntry({ type: "note", text: note });
    move<"Custom">(edit, {
      event,
      ...(reason === undefined ? {} : { detail: reason }),
      ...(trace === undefined ? {} : { note: trace }),
    });
  };
};

/** Ignores chunks, which are only reported to viewers. */
export const llmChunkReceived: InputHandler<LlmChunkInput> = () => "notice";
