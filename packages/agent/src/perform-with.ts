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
import { checkIsAgent, checkIsEffect, checkIsState } from "./check-arguments.ts";
import { checkOptions, type OptionForms } from "./check-options.ts";
import { systemClock } from "./clock.ts";
import { decisionToInput, refusalOf } from "./decision-to-input.ts";
import type { Agent } from "./define-agent.ts";

/**
 * The options of `performWith`. `signal` aborts the work of effects, `notify` receives their progress, and `ask` shows a
 * question to a reviewer. Default: none of them.
 */
export interface PerformOptions extends Partial<Pick<EffectHost, "signal" | "notify" | "ask">> {
  /** The id of the session, a part of digests and idempotency keys. Default: "local". */
  readonly sessionId?: string;
  /** Default: `systemClock`. */
  readonly clock?: Clock;
}

const performForms: OptionForms<PerformOptions> = {
  sessionId: "string",
  clock: "clock",
  signal: "signal",
  notify: "function",
  ask: "function",
};

/**
 * Returns a function that executes one effect of an agent without a session and yields its inputs in order. Apply each
 * input to the state before you take the next one, because an effect continues only if its intent was applied. Without
 * `ask` questions are rejected; with it they wait for a decision that you apply. Throws `BuildError` for an invalid
 * agent and for an unknown or invalid option.
 */
export function performWith(
  agent: Pick<Agent<unknown>, "parts" | "runLimits">,
  options: PerformOptions = {},
): (effect: AgentEffect, state: AgentState) => AsyncIterable<AgentInput> {
  checkIsAgent("performWith", agent, ["parts", "runLimits"]);
  checkOptions("performWith", options, performForms);
  const { parts, runLimits: limits } = agent;
  const { sessionId = "local", clock = systemClock, signal, notify, ask } = options;
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
  return (effect, state) => {
    checkIsEffect(effect);
    checkIsState(state);
    return effect.type === "ask-human" && ask === undefined
      ? rejectQuestion(effect, host)
      : inputsOf(programOf(effect, state, host));
  };
}

async function* rejectQuestion(
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
