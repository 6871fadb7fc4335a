import { changeConfig, type AgentConfig, type AgentConfigChange } from "./agent-config.ts";
import { frozenState, withFields } from "./collections/finished-state.ts";
import { moveBy } from "./control/move.ts";
import type { AgentChange } from "./changes.ts";
import { frozen } from "./data/frozen.ts";
import { StateEdit, type ControlMove } from "./state-edit.ts";
import { initialAgentState } from "./initial.ts";
import type { AgentInput, InputOf, InputType, Start } from "./input.ts";
import {
  contextNoteAdded,
  contextWindowExpanded,
  historyToolCallsAdded,
  llmChunkReceived,
  stateHandled,
  stateHandlerStarted,
  toolsFound,
} from "./inputs/context.ts";
import { dataChanged } from "./inputs/data.ts";
import { deadlinePassed } from "./inputs/deadline-passed.ts";
import { historyReflected, llmCallFailed, llmCallInterrupted, llmCallStarted } from "./inputs/llm-call.ts";
import { llmMessageCompleted, llmMessageStarted } from "./inputs/llm-message.ts";
import { sessionPaused, sessionResumed } from "./inputs/pause.ts";
import { reActObserved } from "./inputs/re-act-observed.ts";
import type { IgnoredReason, InputHandler, StateChange } from "./inputs/input-handler.ts";
import { scheduleChanged } from "./inputs/schedule.ts";
import {
  agentConfigured,
  loopRetried,
  reActCancelled,
  sessionOpened,
  snapshotTaken,
  stateHandlerInterrupted,
  usageReported,
} from "./inputs/session.ts";
import { toolCallDecided } from "./inputs/tool-call-decided.ts";
import {
  toolCallAsked,
  toolCallCompleted,
  toolCallInterrupted,
  toolCallStarted,
} from "./inputs/tool-call.ts";
import { userMessageReceived } from "./inputs/user-message.ts";
import { isIntent } from "./starts.ts";
import type { AgentState } from "./state.ts";

/** The handlers of an agent, one for each type of input. */
const handlers: { readonly [Type in InputType]: InputHandler<InputOf<Type>> } = {
  "user-message-received": userMessageReceived,
  "llm-call-started": llmCallStarted,
  "llm-call-interrupted": llmCallInterrupted,
  "llm-message-started": llmMessageStarted,
  "llm-chunk-received": llmChunkReceived,
  "llm-message-completed": llmMessageCompleted,
  "re-act-observed": reActObserved,
  "llm-call-failed": llmCallFailed,
  "history-reflected": historyReflected,
  "tool-call-started": toolCallStarted,
  "tool-call-completed": toolCallCompleted,
  "tool-call-asked": toolCallAsked,
  "tool-call-interrupted": toolCallInterrupted,
  "tool-call-decided": toolCallDecided,
  "deadline-passed": deadlinePassed,
  "schedule-changed": scheduleChanged,
  "re-act-cancelled": reActCancelled,
  "session-paused": sessionPaused,
  "session-resumed": sessionResumed,
  "loop-retried": loopRetried,
  "session-opened": sessionOpened,
  "agent-configured": agentConfigured,
  "state-handler-started": stateHandlerStarted,
  "state-handler-interrupted": stateHandlerInterrupted,
  "state-handled": stateHandled,
  "context-window-expanded": contextWindowExpanded,
  "history-tool-calls-added": historyToolCallsAdded,
  "tools-found": toolsFound,
  "context-note-added": contextNoteAdded,
  "data-changed": dataChanged,
  "usage-reported": usageReported,
  "snapshot-taken": snapshotTaken,
};

function handle(state: AgentState, input: AgentInput): IgnoredReason | StateChange {
  const handler: InputHandler<AgentInput> | undefined = Object.hasOwn(handlers, input.type)
    ? handlers[input.type]
    : undefined;
  return handler === undefined ? "unknown-input" : handler(state, input);
}

/** The reason why an input does not apply to a state; undefined if it applies. */
export const ignoredReason =
  (input: AgentInput) =>
  (state: AgentState): IgnoredReason | undefined => {
    const handled = handle(state, input);
    return typeof handled === "string" ? handled : undefined;
  };

/** Applies an input. Returns whether it applied. */
function apply(edit: StateEdit, input: AgentInput): boolean {
  const change = handle(edit, input);
  if (typeof change === "string") return false;
  edit.timestamp = input.timestamp;
  change(edit);
  if (input.starts !== undefined) begin(edit, input.starts);
  edit.touch();
  return true;
}

/** Applies the starts of an input after it. Returns those that applied: only an intent begins anything. */
function begin(edit: StateEdit, starts: readonly Start[]): readonly Start[] {
  const { timestamp } = edit;
  return starts.filter((start) => {
    const intent = { ...start, timestamp };
    const change = isIntent(intent) ? handle(edit, intent) : "unknown-input";
    if (typeof change === "string") return false;
    change(edit);
    return true;
  });
}

/** Returns the next state; the same reference if the input does not apply. Pure and total for every valid input. */
export const agentTransition =
  (input: AgentInput) =>
  (state: AgentState): AgentState => {
    const edit = new StateEdit(state);
    return apply(edit, input) ? frozenState(edit.finished()) : state;
  };

/**
 * The result of a transition: the next state, its control moves, and the changes of the state as data. `state` and `changes` are made
 * when they are read; read them instead of spreading a step.
 */
export interface AgentStep {
  readonly state: AgentState;
  readonly moves: readonly ControlMove[];
  readonly changes: readonly AgentChange[];
}

/** Like `agentTransition`, with moves and changes. For an input that does not apply both are empty. */
export const step =
  (input: AgentInput) =>
  (state: AgentState): AgentStep => {
    const stepped = stepOfHost(input)(state);
    if (stepped === undefined) return { state, moves: [], changes: [] };
    frozenState(stepped.state);
    return stepped;
  };

/** Like `step`, for a host that freezes what it hands out, with `frozenState`. Undefined for an input that does not apply. */
export const stepOfHost =
  (input: AgentInput) =>
  (state: AgentState): AgentStep | undefined => {
    const edit = new StateEdit(state, { records: true });
    return apply(edit, input) ? new EditedStep(edit) : undefined;
  };

/** The state of a step for a reader who keeps nothing of it: it is not made for that. */
export const viewOf = (made: AgentStep): AgentState => (made instanceof EditedStep ? made.view : made.state);

/** The step of an edit. Its state and its changes are made when they are read for the first time. */
class EditedStep implements AgentStep {
  readonly moves: readonly ControlMove[];
  readonly #edit: StateEdit;
  #state: AgentState | undefined;
  #changes: readonly AgentChange[] | undefined;

  constructor(edit: StateEdit) {
    this.moves = edit.moves;
    this.#edit = edit;
    this.#state = undefined;
    this.#changes = undefined;
  }

  get state(): AgentState {
    return (this.#state ??= this.#edit.finished());
  }

  get view(): AgentState {
    return this.#state ?? this.#edit;
  }

  /** Continues the edit with starts. This step must not be read after that. */
  begin(starts: readonly Start[]): BegunStep {
    const edit = this.#edit;
    const begun = begin(edit, starts);
    edit.touch();
    return { step: new EditedStep(edit), begun };
  }

  get changes(): readonly AgentChange[] {
    return (this.#changes ??= Object.freeze(this.#edit.changes()));
  }
}

/** A step with work that has begun with it. `begun`: the starts that have applied. */
export interface BegunStep {
  readonly step: AgentStep;
  readonly begun: readonly Start[];
}

/** Continues a step with starts; the given step must not be read after that. Undefined for a step that did not apply. */
export const withStarts = (made: AgentStep, starts: readonly Start[]): BegunStep | undefined =>
  made instanceof EditedStep ? made.begin(starts) : undefined;

/**
 * Fires an event of the control graph directly: for tests of a graph, and for tools that show one. A pair without a row
 * ends in Error with `InvalidTransition`.
 */
export const fire =
  (event: string) =>
  (state: AgentState): AgentStep => {
    const edit = new StateEdit(state, { records: true });
    edit.timestamp = state.updatedAt;
    moveBy(edit, { event });
    const fired = new EditedStep(edit);
    frozenState(fired.state);
    return fired;
  };

/** The options of `createAgentTransition`: a change of the configuration. The two sizes of `window` have their own names. */
export interface AgentTransitionOptions extends AgentConfigChange {
  /** `window.initialSize`. */
  readonly initialContextWindowSize?: number;
  /** `window.expandBy`. */
  readonly expandContextWindowSize?: number;
}

/** Creates a transition with its own configuration: the given fields take precedence over those of the state. */
export function createAgentTransition(
  options: AgentTransitionOptions = {},
): (input: AgentInput) => (state: AgentState) => AgentState {
  const change = transitionChange(options);
  const configured = new WeakMap<AgentConfig, AgentConfig>();
  const configFor = (config: AgentConfig): AgentConfig => {
    const known = configured.get(config);
    if (known !== undefined) return known;
    const changed = changeConfig(config, change);
    const isSame = JSON.stringify(changed) === JSON.stringify(config);
    // The elements of a state of the application are not frozen.
    const own = isSame ? config : Object.isFrozen(config) ? frozen(changed) : changed;
    configured.set(config, own);
    return own;
  };
  return (input) => (state) => {
    const config = configFor(state.config);
    const base = config === state.config ? state : withFields(state, { config });
    const next = agentTransition(input)(base);
    return next === base ? state : next;
  };
}

function transitionChange(options: AgentTransitionOptions): AgentConfigChange {
  const { initialContextWindowSize: initialSize, expandContextWindowSize: expandBy, ...change } = options;
  const sizes = {
    ...(initialSize === undefined ? {} : { initialSize }),
    ...(expandBy === undefined ? {} : { expandBy }),
  };
  return { ...change, window: { ...change.window, ...sizes } };
}

/** A fold in progress. `apply` returns the step of an input; undefined if the input did not apply. */
export interface Replay {
  apply(input: AgentInput): Omit<AgentStep, "state"> | undefined;
  /** The current state. It does not change when the replay continues. */
  state(): AgentState;
}

/** Starts a fold that works in place on a private state. The results are those of `agentTransition`, but much faster. */
export function beginReplay(
  from: AgentState = initialAgentState(),
  { changes = false }: { readonly changes?: boolean } = {},
): Replay {
  const edit = new StateEdit(from, { records: changes, folds: true });
  return {
    apply(input) {
      edit.next();
      return apply(edit, input) ? { moves: edit.moves, changes: edit.changes() } : undefined;
    },
    state: () => frozenState(edit.finished()),
  };
}

/** Folds inputs, and returns the resulting state. Inputs that do not apply are skipped. */
export function replay(inputs: Iterable<AgentInput>, from: AgentState = initialAgentState()): AgentState {
  const edit = new StateEdit(from, { folds: true });
  for (const input of inputs) {
    edit.next();
    apply(edit, input);
  }
  return frozenState(edit.finished());
}
