import type { AgentState } from "@moora/agent-core-state-machine";
import type { AgentEffect, AskHumanEffect, WaitUntilEffect } from "../effect.ts";
import { isAborted, onAbort } from "./abort.ts";
import type { EffectHost } from "./host.ts";
import { failureInput } from "./failure-input.ts";
import { setLongTimeout } from "./long-timeout.ts";
import { callLlm } from "./call-llm.ts";
import { callTool } from "./call-tool.ts";
import { probeTool } from "./probe-tool.ts";
import { NotSynchronous, dispatch, waitFor, type EffectProgram } from "./effect-program.ts";
import { isRetryWait } from "./retry-wait.ts";
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
    const failure = isAborted(host) ? undefined : failureInput(effect, error, host.clock.now());
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
      return waitUntil(effect, state, host);
  }
}

/** Dispatches the decision if this host makes one; otherwise the question stays open for a decision from outside. */
function* askHuman(effect: AskHumanEffect, { ask }: EffectHost): EffectProgram<void> {
  const decision = yield* waitFor(ask?.(effect));
  if (decision !== undefined) yield* dispatch(decision);
}

function* waitUntil(effect: WaitUntilEffect, state: AgentState, host: EffectHost): EffectProgram<void> {
  const { clock } = host;
  const { key, due } = effect;
  // A retry keeps the process alive; a question does not, since another process may answer it.
  if (due > clock.now()) yield* waitFor(timePassed(due, host, isRetryWait(effect, state)));
  if (!isAborted(host)) yield* dispatch({ type: "deadline-passed", key, timestamp: clock.now() });
}

function timePassed(due: number, host: EffectHost, keepsAlive: boolean): Promise<void> {
  const { clock } = host;
  return new Promise((resolve) => {
    let cancelTimer = (): void => undefined;
    const stopListening = onAbort(host, () => {
      cancelTimer();
      resolve();
    });
    const wait = (): void => {
      const left = due - clock.now();
      if (left > 0) cancelTimer = setLongTimeout(clock, left, wait, { keepsAlive });
      else {
        stopListening();
        resolve();
      }
    };
    if (!isAborted(host)) wait();
  });
}
