import {
  answerMessageId,
  askKey,
  isLoopRunning,
  openCallsOf,
  planKey,
  probeKey,
  recordOf,
  reflectKey,
  stateKey,
  toolKey,
  waitsAt,
  type AgentState,
  type ControlOf,
  type OpenCall,
} from "@moora/agent-core-state-machine";
import type { AgentEffect, CallLlmEffect, RunStateEffect } from "./effect.ts";

/** Everything the agent wants done now, by key. Equal keys mean equal effects. Costs the open work, not the history. */
export function effectsAt(state: AgentState): Readonly<Record<string, AgentEffect>> {
  // Without a prototype the record is a dictionary from the start: its keys are new each time.
  const wanted: Record<string, AgentEffect> = Object.create(null);
  const { control } = state.reActContext;
  const add = (effect: AgentEffect): void => {
    wanted[effect.key] = effect;
  };
  if (control.type === "Planning" && control.retryAt === null) add(planEffect(state, control));
  if (control.type === "Reflecting") add(reflectEffect(state, control));
  if (control.type === "Custom" && isLoopRunning(state)) add(stateEffect(state, control));
  for (const call of openCallsOf(control)) {
    const effect = callEffect(state, call);
    if (effect !== undefined) add(effect);
  }
  for (const { key, due } of waitsAt(state)) add({ type: "wait-until", key, due });
  return wanted;
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
    case "asking":
      return {
        type: "ask-human",
        key: askKey(call, status),
        toolCallId,
        about: status.about,
        name,
        parameters,
        digest: status.digest,
        due: status.due,
        reminder: status.reminder,
        escalated: status.escalated,
      };
  }
}
