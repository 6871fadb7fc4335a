import { recordOf } from "../control/calls.ts";
import type { StateEdit } from "../state-edit.ts";
import { stateKey } from "../keys.ts";
import type { AgentState, ContextEntry } from "../state.ts";
import { move } from "../control/move.ts";
import { isLoopRunning } from "./loop.ts";
import type {
  AddContextNoteInput,
  AddToolCallsToContextInput,
  ExpandContextWindowInput,
  LlmChunkInput,
  StateHandledInput,
  StateHandlerStartedInput,
} from "../input.ts";
import type { InputHandler } from "./input-handler.ts";

const enqueue = (edit: StateEdit, entry: ContextEntry): void =>
  edit.setContext({ queued: [...edit.reActContext.queued, entry] });

export const contextWindowExpanded: InputHandler<ExpandContextWindowInput> = {
  whyNot: (state) => (isLoopRunning(state) ? undefined : "no-loop"),
  apply(edit) {
    const contextWindowSize = edit.reActContext.contextWindowSize + edit.config.expandContextWindowSize;
    edit.setContext({ contextWindowSize, widen: true });
  },
};

export const historyToolCallsAdded: InputHandler<AddToolCallsToContextInput> = {
  whyNot(state, { toolCallIds }) {
    if (!isLoopRunning(state)) return "no-loop";
    return toolCallIds.every((id) => isAnswered(state, id)) ? undefined : "unknown-call";
  },
  apply(edit, { toolCallIds }) {
    const ids = [...new Set(toolCallIds)];
    enqueue(edit, { type: "tool-calls", toolCallIds: ids });
    const known = new Set(edit.reActContext.toolCallIds);
    const added = ids.filter((id) => !known.has(id));
    if (added.length > 0) edit.addContextCalls(added);
  },
};

const isAnswered = (state: AgentState, id: string): boolean => (recordOf(state, id)?.result ?? null) !== null;

export const contextNoteAdded: InputHandler<AddContextNoteInput> = {
  whyNot(state, { text }) {
    if (!isLoopRunning(state)) return "no-loop";
    return text.trim() === "" ? "blank" : undefined;
  },
  apply: (edit, { text }) => enqueue(edit, { type: "note", text }),
};

const handlerKey = (state: AgentState): string | undefined => {
  const { control } = state.reActContext;
  return control.type === "Custom" && isLoopRunning(state)
    ? stateKey(state.reActContext, control)
    : undefined;
};

export const stateHandlerStarted: InputHandler<StateHandlerStartedInput> = {
  whyNot(state, { key }) {
    const { control } = state.reActContext;
    if (handlerKey(state) !== key) return "wrong-key";
    return control.type === "Custom" && control.started ? "already-started" : undefined;
  },
  apply(edit) {
    const { control } = edit.reActContext;
    if (control.type === "Custom") edit.setContext({ control: { ...control, started: true } });
  },
};

export const stateHandled: InputHandler<StateHandledInput> = {
  whyNot: (state, { key }) => (handlerKey(state) === key ? undefined : "wrong-key"),
  apply(edit, { event, note, usage }) {
    edit.addToolUsage(usage);
    if (note !== undefined && note.trim() !== "") edit.addEntry({ type: "note", text: note });
    move(edit, note === undefined ? { event } : { event, detail: note });
  },
};

/** Chunks are told to viewers; they change nothing. */
export const llmChunkReceived: InputHandler<LlmChunkInput> = {
  whyNot: () => "notice",
  apply: () => undefined,
};
