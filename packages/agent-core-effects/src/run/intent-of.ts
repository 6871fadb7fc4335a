import type { AgentState, IntentInput } from "@moora/agent-core-state-machine";
import { openCallOf, recordOf } from "@moora/agent-core-state-machine/internal";
import type { AgentEffect, CallLlmEffect, CallToolEffect, RunStateEffect } from "../effect.ts";
import { toolNamed } from "../tool/tool-named.ts";
import { dispatch, type EffectProgram } from "./effect-program.ts";
import type { EffectHost } from "./host.ts";

/** The parts of a host that an intent uses. */
export type IntentHost = Pick<EffectHost, "parts" | "clock" | "dispatchLate">;

/**
 * The intent of an effect: the input that records that the effect is about to start. Undefined for an effect that needs
 * none: it changes nothing outside, or it is a call that only fails, of an unknown tool or with invalid arguments.
 */
export function intentOf(
  effect: AgentEffect,
  state: AgentState,
  { parts, clock, dispatchLate }: IntentHost,
): IntentInput | undefined {
  switch (effect.type) {
    case "call-llm":
      return { type: "llm-call-started", key: effect.key, timestamp: clock.now() };
    case "call-tool": {
      const { toolCallId, attempt, name } = effect;
      const tool = toolNamed(parts.tools, name);
      if (tool === undefined || recordOf(state, toolCallId)?.problem !== undefined) return undefined;
      const reports = dispatchLate !== undefined && tool.definition.spends !== undefined;
      const reportsUsage = reports ? ({ reportsUsage: true } as const) : {};
      return { type: "tool-call-started", toolCallId, attempt, ...reportsUsage, timestamp: clock.now() };
    }
    case "run-state":
      return { type: "state-handler-started", key: effect.key, timestamp: clock.now() };
    case "probe-tool":
    case "ask-human":
    case "wait-until":
      return undefined;
  }
}

/** Whether a state that wants an effect already contains its intent. */
export function isIntentRecorded(effect: AgentEffect, { reActContext: { control } }: AgentState): boolean {
  switch (effect.type) {
    case "call-llm":
    case "run-state":
      return "started" in control && control.started;
    case "call-tool": {
      const status = openCallOf(control, effect.toolCallId)?.status;
      return status?.type === "running" && status.started;
    }
    case "probe-tool":
    case "ask-human":
    case "wait-until":
      return false;
  }
}

/** Dispatches the intent of an effect. Returns whether the effect may act. Not for a host that has committed its intent already. */
export function* dispatchIntent(
  effect: CallLlmEffect | CallToolEffect | RunStateEffect,
  state: AgentState,
  host: EffectHost,
): EffectProgram<boolean> {
  const intent = intentOf(effect, state, host);
  return intent === undefined || (yield* dispatch(intent));
}
