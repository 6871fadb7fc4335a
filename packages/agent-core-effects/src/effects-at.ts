import {
  isLoopRunning,
  isPaused,
  waitsAt,
  type AgentState,
  type ControlOf,
  type ControlType,
  type OpenCall,
} from "@moora/agent-core-state-machine";
import {
  answerMessageId,
  askKey,
  planKey,
  probeKey,
  recordOf,
  reflectKey,
  stateKey,
  toolKey,
  toolQuestionOf,
} from "@moora/agent-core-state-machine/internal";
import type { AgentEffect, CallLlmEffect, RunStateEffect } from "./effect.ts";
import { isHeld } from "./open-effects.ts";

type Effects = Record<string, AgentEffect>;

/** Adds the effects of one type of control state. */
type AddEffects<Type extends ControlType> = EffectsMethod<Type>["add"];

// A method type: its parameters are bivariant, so that the table can be called with any control state.
interface EffectsMethod<Type extends ControlType> {
  add(effects: Effects, state: AgentState, control: ControlOf<Type>): void;
}

const nothing = (): void => undefined;

/** The effects of each type of control state. */
const effectsOf: { readonly [Type in ControlType]: AddEffects<Type> } = {
  Idle: nothing,
  Planning: (effects, state, control) => {
    if (control.retryAt === null) add(effects, planEffect(state, control));
  },
  WaitingForHuman: addCalls,
  Acting: addCalls,
  ParallelActing: addCalls,
  Observing: nothing,
  Reflecting: (effects, state, control) => add(effects, reflectEffect(state, control)),
  Done: nothing,
  Error: nothing,
  Custom: (effects, state, control) => {
    if (isLoopRunning(state)) add(effects, stateEffect(state, control));
    addCalls(effects, state, control);
  },
};

/**
 * The effects that a state wants, by key. Equal keys mean equal effects. A paused session wants only the work that has started,
 * its questions and their waits. The cost depends on the open work, not the history.
 */
export function effectsAt(state: AgentState): Readonly<Record<string, AgentEffect>> {
  // An object without a prototype is fast with keys that are new each time.
  const effects: Effects = Object.create(null);
  const { control } = state.reActContext;
  const addEffects: AddEffects<ControlType> = effectsOf[control.type];
  addEffects(effects, state, control);
  for (const { key, due } of waitsAt(state)) add(effects, { type: "wait-until", key, due });
  if (isPaused(state)) removeHeld(effects, state);
  return effects;
}

/** Removes the effects that wait until the session is resumed. */
function removeHeld(effects: Effects, state: AgentState): void {
  for (const effect of Object.values(effects)) if (isHeld(effect, state)) delete effects[effect.key];
}

function add(effects: Effects, effect: AgentEffect): void {
  effects[effect.key] = effect;
}

function addCalls(
  effects: Effects,
  state: AgentState,
  { calls }: { readonly calls: readonly OpenCall[] },
): void {
  for (const call of calls) {
    const effect = callEffect(state, call);
    if (effect !== undefined) add(effects, effect);
  }
}

function planEffect({ reActContext: context }: AgentState, control: ControlOf<"Planning">): CallLlmEffect {
  return {
    type: "call-llm",
    key: planKey(context, control),
    purpose: "plan",
    requestKey: planKey(context, { ...control, attempt: control.request }),
    messageId: answerMessageId(context, control),
  };
}

function reflectEffect(
  { reActContext: context }: AgentState,
  control: ControlOf<"Reflecting">,
): CallLlmEffect {
  return {
    type: "call-llm",
    key: reflectKey(context, control),
    purpose: "reflect",
    requestKey: reflectKey(context, { ...control, attempt: control.request }),
    messageId: "",
  };
}

function stateEffect({ reActContext: context }: AgentState, control: ControlOf<"Custom">): RunStateEffect {
  const { name, attempt, event } = control;
  const workKey = stateKey(context, { ...control, attempt: 1 });
  return { type: "run-state", key: stateKey(context, control), workKey, name, attempt, event };
}

function callEffect(state: AgentState, call: OpenCall): AgentEffect | undefined {
  const { id: toolCallId, attempt, status } = call;
  const record = recordOf(state, toolCallId);
  if (record === undefined) return undefined;
  const { name, parameters, digest = "" } = record;
  switch (status.type) {
    case "queued":
    case "retrying":
      return undefined;
    case "running": {
      const budget = call.reserved === undefined ? {} : { budget: call.reserved };
      return {
        type: "call-tool",
        key: toolKey(call),
        toolCallId,
        attempt,
        name,
        parameters,
        digest,
        ...budget,
      };
    }
    case "probing":
      return { type: "probe-tool", key: probeKey(call), toolCallId, attempt, name, parameters, digest };
    case "asking": {
      const asked = toolQuestionOf(state, call);
      return {
        type: "ask-human",
        key: askKey(call, status),
        toolCallId,
        about: status.about,
        name,
        parameters,
        ...(asked === undefined ? {} : { question: asked.question }),
        digest: status.digest,
        due: status.due,
        reminder: status.reminder,
        escalated: status.escalated,
      };
    }
  }
}
