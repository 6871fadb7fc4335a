import type { AgentState } from "@moora/agent-core-state-machine";
import type { WaitUntilEffect } from "../effect.ts";
import { isRetryWait } from "../open-effects.ts";
import { isAborted, onAbort } from "./abort.ts";
import { dispatch, waitFor, type EffectProgram } from "./effect-program.ts";
import type { EffectHost } from "./host.ts";
import { setLongTimeout } from "./long-timeout.ts";

/** Waits until an effect is due, and dispatches that its deadline has passed. */
export function* waitUntil(
  effect: WaitUntilEffect,
  state: AgentState,
  host: EffectHost,
): EffectProgram<void> {
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
