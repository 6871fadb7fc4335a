import {
  inputsOf,
  programOf,
  type AgentEffect,
  type AskHumanEffect,
  type Clock,
  type EffectHost,
} from "@moora/agent-core-effects";
import type { AgentInput, AgentState } from "@moora/agent-core-state-machine";
import { digestOf } from "@moora/event-log";
import { systemClock } from "./clock.ts";
import { decisionToInput, refusalOf } from "./decision-to-input.ts";
import type { Agent } from "./define-agent.ts";

export interface PerformOptions extends Partial<Pick<EffectHost, "signal" | "notify" | "ask">> {
  readonly sessionId?: string;
  readonly clock?: Clock;
}

/**
 * Executes the effects of an agent without a session, and yields their inputs one after the other. Apply each before you
 * take the next one: what an effect does depends on whether its intent was applied. Without
 * `ask` there is no reviewer, and questions are rejected; with it they wait for a decision that you apply.
 */
export function performWith(
  { parts, runLimits: limits }: Pick<Agent<unknown>, "parts" | "runLimits">,
  { sessionId = "local", clock = systemClock, signal, notify, ask }: PerformOptions = {},
): (effect: AgentEffect, state: AgentState) => AsyncIterable<AgentInput> {
  const host: EffectHost = {
    parts,
    limits,
    sessionId,
    clock,
    digestOf,
    signal: signal ?? new AbortController().signal,
    notify: notify ?? (() => undefined),
    ...(ask === undefined ? {} : { ask }),
  };
  return (effect, state) =>
    effect.type === "ask-human" && ask === undefined
      ? unasked(effect, host)
      : inputsOf(programOf(effect, state, host));
}

async function* unasked(
  effect: AskHumanEffect,
  { clock, limits: { maxResultLength } }: EffectHost,
): AsyncGenerator<AgentInput> {
  const refusal = refusalOf(effect, "No reviewer is available.");
  const timestamp = clock.now();
  yield decisionToInput(effect, refusal, {
    by: "no-reviewer",
    timestamp,
    digestOfChange: () => "",
    maxResultLength,
  });
}
