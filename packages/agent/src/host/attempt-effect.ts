import {
  effectsAt,
  interruptionOf,
  type AgentEffect,
  type Clock,
  type DispatchedInput,
  type Progress,
} from "@moora/agent-core-effects";
import type { AgentState } from "@moora/agent-core-state-machine";
import type { Agent } from "../define-agent.ts";
import { Logger, type LogListener } from "../logger.ts";
import { performEffect } from "../perform-effect.ts";
import { lateOutputLogger } from "../session/log-inputs.ts";

/** A session in which an engine runs an effect. */
export interface EngineSession {
  readonly id: string;
  /** The identity of the session in idempotency keys and in the digests of questions. */
  readonly identity: string;
  /** Resolves with the newest state, or with a later one if the effect must wait for that; undefined if the session was removed. */
  readonly newest: () => Promise<AgentState | undefined>;
  /** Appends inputs to the newest state. Resolves with whether they changed it. */
  readonly append: (inputs: readonly DispatchedInput[]) => Promise<boolean>;
  /** Resolves when the session is not paused, or no longer wants the effect. */
  readonly untilResumed: () => Promise<void>;
  /** Runs work with a signal that aborts when the session no longer wants the effect. */
  readonly withSignal: (work: (signal: AbortSignal) => Promise<void>) => Promise<void>;
}

/** What the process of an engine has for the effects that it runs. */
export interface EngineOptions {
  readonly clock: Clock;
  readonly context?: unknown;
  readonly onProgress?: (sessionId: string, progress: Progress) => void;
  readonly onLog?: LogListener;
}

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
  for (;;) {
    const state = await session.newest();
    if (state === undefined || !Object.hasOwn(effectsAt(state), effect.key)) return;
    const interruption = interruptionOf(effect, state, options.clock.now());
    if (interruption !== undefined) {
      await session.append([interruption]);
      return;
    }
    if (await hasBegun(agent, { effect, state, session }, options)) return;
    // The session no longer wants the effect, or the intent of another attempt is recorded by now.
  }
}

interface Attempt {
  readonly effect: AgentEffect;
  readonly state: AgentState;
  readonly session: EngineSession;
}

/** Resolves when an effect has ended, with whether it had begun: its first input, which is the intent if it has one, applied. */
async function hasBegun(
  agent: Agent<unknown>,
  { effect, state, session }: Attempt,
  { clock, context, onProgress, onLog }: EngineOptions,
): Promise<boolean> {
  const { id, identity: sessionId, append, untilResumed } = session;
  const onLateOutput = lateOutputLogger(new Logger(id, onLog));
  let begun: boolean | undefined;
  await session.withSignal((signal) =>
    performEffect(agent, effect, state, {
      sessionId,
      clock,
      signal,
      untilResumed,
      dispatch: async (...inputs) => {
        const hasApplied = await append(inputs);
        begun ??= hasApplied;
        return hasApplied;
      },
      ...(onLateOutput === undefined ? {} : { onLateOutput }),
      ...(context === undefined ? {} : { context }),
      ...(onProgress === undefined ? {} : { notify: (progress) => onProgress(id, progress) }),
    }),
  );
  return begun ?? false;
}
