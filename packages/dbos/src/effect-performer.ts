import {
  effectsAt,
  interruptionOf,
  performEffect,
  systemClock,
  type Agent,
  type AgentEffect,
  type AgentState,
} from "@moora/agent";
import { lateOutputLogger, Logger } from "@moora/agent/internal";
import { isPaused } from "@moora/agent-core-state-machine";
import type { DbosHostOptions } from "./dbos-options.ts";
import type { HostedSession } from "./hosted-session.ts";

/** An effect that has a workflow: all but questions, which are answered by a post. */
export type WorkflowEffect = Exclude<AgentEffect, { readonly type: "ask-human" }>;

/** Performs the effects of the sessions of one agent in this process. */
export class EffectPerformer {
  readonly #agent: Agent<unknown>;
  readonly #options: Pick<DbosHostOptions, "context" | "onProgress" | "onLog">;

  constructor(agent: Agent<unknown>, options: Pick<DbosHostOptions, "context" | "onProgress" | "onLog">) {
    this.#agent = agent;
    this.#options = options;
  }

  /**
   * Runs an effect, unless the state no longer wants it. Reports an earlier run that had begun. A pause holds work that has not
   * begun, and the resumed session wants it under the same key. No other workflow can have that key, so this one waits for it.
   */
  async perform(session: HostedSession, effect: WorkflowEffect): Promise<void> {
    for (;;) {
      const state = await session.waitFor(
        (newest) => !isPaused(newest) || effectsAt(newest)[effect.key] !== undefined,
      );
      if (effectsAt(state)[effect.key] === undefined) return;
      const interruption = interruptionOf(effect, state, systemClock.now());
      if (interruption !== undefined) {
        await session.append([interruption]);
        return;
      }
      if (await this.#begin(session, { effect, state })) return;
    }
  }

  /** Resolves when the effect has ended, with whether it had begun: its first input, which is the intent if it has one, applied. */
  async #begin(
    session: HostedSession,
    { effect, state }: { readonly effect: WorkflowEffect; readonly state: AgentState },
  ): Promise<boolean> {
    const { context, onProgress, onLog } = this.#options;
    const onLateOutput = lateOutputLogger(new Logger(session.id, onLog));
    const isFree = (newest: AgentState): boolean =>
      !isPaused(newest) || effectsAt(newest)[effect.key] === undefined;
    let hasBegun: boolean | undefined;
    await session.run(effect.key, (signal) =>
      performEffect(this.#agent, effect, state, {
        dispatch: async (...inputs) => {
          const hasApplied = (await session.append(inputs)).applied > 0;
          hasBegun ??= hasApplied;
          return hasApplied;
        },
        sessionId: session.identity,
        signal,
        untilResumed: async () => void (await session.waitFor(isFree)),
        ...(onLateOutput === undefined ? {} : { onLateOutput }),
        ...(context === undefined ? {} : { context }),
        ...(onProgress === undefined ? {} : { notify: (progress) => onProgress(session.id, progress) }),
      }),
    );
    return hasBegun ?? false;
  }
}
