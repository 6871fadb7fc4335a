import type { AgentState } from "@moora/agent-core-state-machine";
import type { AgentEffect, AskHumanEffect, WaitUntilEffect } from "../effect.ts";
import type { Clock, EffectHost } from "./host.ts";
import { failureInput } from "./failure-input.ts";
import { setLongTimeout } from "./long-timeout.ts";
import { callLlm } from "./call-llm.ts";
import { callTool, probeTool } from "./call-tool.ts";
import { NotSynchronous, dispatch, waitFor, type EffectProgram } from "./effect-program.ts";
import { runState } from "./run-state.ts";

/**
 * The program of an effect, for one of the drivers. It does the work and dispatches the results. An exception of a model, a
 * tool or a handler is dispatched as a failure, so that a wanted effect always ends with an answer.
 */
export function* programOf(effect: AgentEffect, state: AgentState, host: EffectHost): EffectProgram<void> {
  try {
    yield* workOf(effect, state, host);
  } catch (error) {
    if (error instanceof NotSynchronous) throw error;
    const failure = host.signal.aborted ? undefined : failureInput(effect, error, host.clock.now());
    if (failure === undefined) throw error;
    yield* dispatch(failure);
  }
}

function workOf(effect: AgentEffect, state: AgentState, host: EffectHost): EffectProgram<void> {
  switch (effect.type) {
    case "call-llm":
      return callLlm(effect, state, host);
    case "call-tool":
      return callTool(effect, state, host);
    case "probe-tool":
      return probeTool(effect, state, host);
    case "ask-human":
      return askHuman(effect, host);
    case "run-state":
      return runState(effect, state, host);
    case "wait-until":
      return waitUntil(effect, host);
  }
}

/** Dispatches the decision if this host makes one; otherwise the question stays open for a decision from outside. */
function* askHuman(effect: AskHumanEffect, { ask }: EffectHost): EffectProgram<void> {
  const decision = yield* waitFor(ask?.(effect));
  if (decision !== undefined) yield* dispatch(decision);
}

function* waitUntil(effect: WaitUntilEffect, { clock, signal }: EffectHost): EffectProgram<void> {
  const { key, due } = effect;
  if (due > clock.now()) yield* waitFor(timePassed(effect, clock, signal));
  if (!signal.aborted) yield* dispatch({ type: "deadline-passed", key, timestamp: clock.now() });
}

/** Keeps the process alive for a retry, which is work; not for a question, which another process may answer. */
async function timePassed(
  { due, purpose }: WaitUntilEffect,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const options = { keepsAlive: purpose === "retry" };
  const ended = Promise.withResolvers<void>();
  const stop = (): void => ended.resolve();
  let cancelTimer = (): void => undefined;
  const wait = (): void => {
    const left = due - clock.now();
    if (left <= 0) ended.resolve();
    else cancelTimer = setLongTimeout(clock, left, wait, options);
  };
  if (signal.aborted) return;
  signal.addEventListener("abort", stop, { once: true });
  wait();
  await ended.promise;
  cancelTimer();
  signal.removeEventListener("abort", stop);
}
