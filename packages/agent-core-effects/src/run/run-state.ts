import type {
  AgentInput,
  AgentState,
  InputOf,
  Replacement,
  TraceNote,
} from "@moora/agent-core-state-machine";
import { addAgentUsage, frozenState } from "@moora/agent-core-state-machine/internal";
import { shownValue } from "@moora/llm/internal";
import type { RunStateEffect } from "../effect.ts";
import { errorText } from "../error-text.ts";
import { isAborted } from "./abort.ts";
import { assertLoggable } from "./assert-loggable.ts";
import { NotSynchronous, dispatch, waitFor, type EffectProgram } from "./effect-program.ts";
import { dataAt } from "../data/data-at.ts";
import { DataUpdates, noData } from "../data/data-updates.ts";
import { callToolOfHandler, type HandlerWork } from "./handler-tool-call.ts";
import { commitOf } from "./commit-data.ts";
import { handlerSpending } from "./handler-spending.ts";
import type { EffectHost, HandlerDecision, LateDecision, StateContext, StateDecision } from "./host.ts";
import { reportUsage, usageReported } from "./late-usage.ts";
import { validUsage } from "./valid-usage.ts";

/** Runs the handler of a custom state, and dispatches its decision. */
export function* runState(effect: RunStateEffect, state: AgentState, host: EffectHost): EffectProgram<void> {
  const { key } = effect;
  const { clock, dispatchLate } = host;
  const spending = handlerSpending(state);
  let updates: DataUpdates | undefined;
  try {
    updates = updatesOf(effect, state, host);
  } catch (error) {
    yield* dispatch({ type: "state-handled", key, timestamp: clock.now(), ...handlerFailed(error) });
    return;
  }
  const decision = yield* stateDecision(effect, state, host, { spending, updates });
  const commits = updates?.close();
  if (commits !== undefined) yield* waitFor(commits);
  const wasAborted = isAborted(host);
  const { usage: known, isComplete } = spending.close((late) => {
    const usage = wasAborted ? addAgentUsage(known, late) : late;
    dispatchLate?.(usageReported(key, validUsage(usage), clock.now()));
  });
  const usage = validUsage(known);
  const follows = !isComplete && dispatchLate !== undefined;
  if (wasAborted) return follows ? undefined : yield* reportUsage(key, usage, host);
  const used = {
    ...(usage === undefined ? {} : { usage }),
    ...(follows ? ({ usageFollows: true } as const) : {}),
  };
  const base = { type: "state-handled", key, ...used, timestamp: clock.now() } as const;
  let handled: StateHandled | undefined;
  let pause: string | undefined;
  const inputAt = (at: AgentState): StateHandled => {
    pause = undefined;
    const input = decisionToInput(effect.name, () => decisionAt(decision, at, host), base);
    handled =
      updates === undefined || updates.isEmpty
        ? input.handled
        : withPatches(input.handled, base, updates, at);
    if (handled.event === input.handled.event) pause = input.pause;
    return handled;
  };
  // One batch, so that nothing of what follows begins. Without a pause the second input is the first one again, which does not apply.
  const pauseAt = (at: AgentState): AgentInput =>
    pause === undefined
      ? (handled ?? inputAt(at))
      : { type: "session-paused", reason: pause.toWellFormed(), timestamp: clock.now() };
  const mayPause = isLate(decision) ? decision.mayPause === true : pauseOf(decision) !== undefined;
  if (mayPause) yield* dispatch(inputAt, pauseAt);
  else yield* dispatch(isLate(decision) || updates?.isEmpty === false ? inputAt : inputAt(state));
}

/** The updates of a handler; undefined for an agent without data. Throws `DataRefused` for data of another version. */
function updatesOf(
  { key, name }: RunStateEffect,
  state: AgentState,
  host: EffectHost,
): DataUpdates | undefined {
  const { data } = host.parts;
  if (data === undefined) return undefined;
  const started = dataAt(host.current?.() ?? state, data);
  return new DataUpdates(data, started, commitOf(host, data, { by: name, key }));
}

/** A decision with its updates, computed at its turn. One whose updates are refused counts as a failure of the handler. */
function withPatches(
  input: StateHandled,
  base: HandledBase,
  updates: DataUpdates,
  state: AgentState,
): StateHandled {
  try {
    return { ...input, patches: updates.changeAt(state).patches };
  } catch (error) {
    return { ...base, ...handlerFailed(error) };
  }
}

type HandledBase = Omit<StateHandled, "event" | "note" | "trace">;

/** The input that leaves the state, and the reason of a pause. An invalid decision counts as a failure of the handler. */
function decisionToInput(
  name: string,
  decide: () => StateDecision,
  base: HandledBase,
): { readonly handled: StateHandled; readonly pause?: string | undefined } {
  try {
    const decision = decide();
    if (!isDecision(decision)) {
      const fix = "return the name of an event, or { event }.";
      throw new Error(`The handler of ${name} returned ${shownValue(decision)}; ${fix}`);
    }
    if (typeof decision === "string")
      return { handled: assertLoggable({ ...base, event: decision.toWellFormed() }) };
    const { event, note, reason, trace, replaced, pause } = decision;
    const handled = {
      ...base,
      event: event.toWellFormed(),
      ...(note === undefined ? {} : { note: note.toWellFormed() }),
      ...(reason === undefined ? {} : { reason: reason.toWellFormed() }),
      ...(trace === undefined ? {} : { trace: wellFormed(trace) }),
      ...(replaced === undefined ? {} : { replaced: replaced.map(wellFormedText) }),
    };
    return { handled: assertLoggable(handled), pause };
  } catch (error) {
    return { handled: { ...base, ...handlerFailed(error) } };
  }
}

/** A trace note whose text logs can contain. A value that is not a note is left for the check of the input. */
function wellFormed(note: TraceNote): TraceNote {
  const text: unknown = Object(note).text;
  return typeof text === "string" ? { ...note, text: text.toWellFormed() } : note;
}

const wellFormedText = (replacement: Replacement): Replacement => ({
  ...replacement,
  content: replacement.content.toWellFormed(),
});

const isLate = (decision: HandlerDecision): decision is LateDecision =>
  typeof decision === "object" && decision !== null && "at" in decision && typeof decision.at === "function";

/** The decision for a state. Throws for a pause that no person could end. */
function decisionAt(decision: HandlerDecision, state: AgentState, { mayPause }: EffectHost): StateDecision {
  const decided = isLate(decision) ? decision.at(frozenState(state)) : decision;
  const pause = pauseOf(decided);
  if (pause !== undefined && isLate(decision) && decision.mayPause !== true)
    throw new Error("A late decision with pause needs mayPause: true.");
  const why = "No person can resume this session: it is that of a task or of a sub-agent.";
  if (pause !== undefined && mayPause?.() === false) throw new Error(`${pause} (${why})`);
  return decided;
}

/** The reason with which a decision pauses the session. Handlers without types may return anything. */
const pauseOf = (decision: StateDecision): string | undefined =>
  typeof decision === "object" && decision !== null ? decision.pause : undefined;

/** Handlers without types may return anything. */
const isDecision = (value: unknown): boolean =>
  typeof value === "string" ||
  (typeof value === "object" && value !== null && "event" in value && typeof value.event === "string");

type StateHandled = InputOf<"state-handled">;

const handlerFailed = (error: unknown) => ({ event: "HandlerFailed", note: errorText(error) });

/**
 * The decision of a handler. Does not throw, so that the usage of the handler's tools always counts. A handler that is
 * missing or throws results in an event: the loop continues if there is a row for it, and ends if there is none.
 */
function* stateDecision(
  effect: RunStateEffect,
  state: AgentState,
  host: EffectHost,
  work: HandlerWork,
): EffectProgram<HandlerDecision> {
  const { states } = host.parts;
  const handler = Object.hasOwn(states, effect.name) ? states[effect.name] : undefined;
  if (handler === undefined) return "NoHandlerForState";
  try {
    return yield* waitFor(handler(frozenState(state), stateContext(effect, state, host, work)));
  } catch (error) {
    if (error instanceof NotSynchronous) throw error;
    work.updates?.drop();
    return handlerFailed(error);
  }
}

function stateContext(
  { workKey, attempt, event }: RunStateEffect,
  state: AgentState,
  host: EffectHost,
  work: HandlerWork,
): StateContext {
  const { sessionId, signal, clock } = host;
  const idempotencyKey = `${sessionId}/${workKey}`;
  let calls = 0;
  return {
    ...(work.updates?.context() ?? noData),
    ...(host.context === undefined ? {} : { context: host.context }),
    signal,
    idempotencyKey,
    attempt,
    event,
    now: () => clock.now(),
    callTool(name, input) {
      calls += 1;
      const toolCallId = `${workKey}/${calls}`;
      return callToolOfHandler(host, state, work, { name, input, attempt, toolCallId });
    },
  };
}
