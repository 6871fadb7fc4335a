import type { Agent, AgentEffect, AgentState } from "@moora/agent";
import { isEffectWanted } from "@moora/agent-core-effects/internal";
import { attemptEffect, lateOutputLogger, Logger, type EngineSession } from "@moora/agent/internal";
import { isPaused } from "@moora/agent-core-state-machine";
import type { DbosHostOptions } from "./dbos-options.ts";
import type { HostedSession } from "./hosted-sessions.ts";

/** An effect that has a workflow: all but questions, which are answered by a post. */
export type WorkflowEffect = Exclude<AgentEffect, { readonly type: "ask-human" }>;

/**
 * Runs an effect of a session in this process. A pause holds work that has not begun, and the resumed session wants it under the same
 * key. No other workflow can have that key, so this one waits for it.
 */
export async function performEffectIn(
  agent: Agent<unknown>,
  session: HostedSession,
  effect: WorkflowEffect,
  { context, onProgress, onLog }: DbosHostOptions,
): Promise<void> {
  const { id, identity } = session;
  const onLateOutput = lateOutputLogger(new Logger(id, onLog));
  const isWanted = (state: AgentState): boolean => isEffectWanted(state, effect);
  const engineSession: EngineSession = {
    identity,
    newest: () => session.waitFor((state) => !isPaused(state) || isWanted(state)),
    append: async (inputs) => (await session.append(inputs)).applied > 0,
    untilResumed: async () => void (await session.waitFor((state) => !isPaused(state) || !isWanted(state))),
    withSignal: (work) => session.run(effect.key, work),
  };
  await attemptEffect(agent, effect, engineSession, {
    context,
    ...(onLateOutput === undefined ? {} : { onLateOutput }),
    ...(onProgress === undefined ? {} : { notify: (progress) => onProgress(id, progress) }),
  });
}
