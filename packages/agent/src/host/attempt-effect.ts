import { interruptionOf, type AgentEffect, type DispatchedInput } from "@moora/agent-core-effects";
import { isEffectWanted } from "@moora/agent-core-effects/internal";
import type { AgentState } from "@moora/agent-core-state-machine";
import { systemClock } from "../clock.ts";
import type { Agent } from "../define-agent.ts";
import { performEffect, type PerformOptions } from "../perform-effect.ts";

/** A session in which an engine runs an effect. */
export interface EngineSession {
  /** The identity of the session in idempotency keys and in the digests of questions. */
  readonly identity: string;
  /** Resolves with the newest state, or with a later one if the effect must wait for that; undefined if the session was removed. */
  newest(): Promise<AgentState | undefined>;
  /** Appends inputs to the newest state. Resolves with whether they changed it. */
  append(inputs: readonly DispatchedInput[]): Promise<boolean>;
  /** Resolves when the session is not paused, or no longer wants the effect. */
  untilResumed(): Promise<void>;
  /** Runs work with a signal that aborts when the session no longer wants the effect. */
  withSignal(work: (signal: AbortSignal) => Promise<void>): Promise<void>;
}

/** What the process of an engine has for its effects, as for `performEffect`. */
export type EngineOptions = Pick<PerformOptions, "context" | "notify" | "onLateOutput">;

/**
 * One attempt of an engine to run an effect, which the engine may repeat. Does nothing if the session no longer wants the effect. If its
 * intent is recorded, an earlier attempt had begun: that is reported as an interruption instead. Rejects with what `append` throws.
 */
export async function attemptEffect(
  agent: Agent<unknown>,
  effect: AgentEffect,
  session: EngineSession,
  options: EngineOptions,
): Promise<void> {
  // Undefined until the first input of the effect, which is the intent if it has one. The effect has begun if that applied.
  let hasBegun: boolean | undefined;
  const perform = (state: AgentState): Promise<void> =>
    session.withSignal((signal) =>
      performEffect(agent, effect, state, {
        ...options,
        sessionId: session.identity,
        signal,
        untilResumed: () => session.untilResumed(),
        dispatch: async (...inputs) => {
          const hasApplied = await session.append(inputs);
          hasBegun ??= hasApplied;
          return hasApplied;
        },
      }),
    );
  // If it has not begun, the session no longer wants it, or the intent of another attempt is recorded by now.
  while (hasBegun !== true) {
    hasBegun = undefined;
    const state = await session.newest();
    if (state === undefined || !isEffectWanted(state, effect)) return;
    const interruption = interruptionOf(effect, state, systemClock.now());
    if (interruption === undefined) await perform(state);
    else {
      await session.append([interruption]);
      return;
    }
  }
}
