import { systemClock } from "@moora/agent";
import { failureInput } from "@moora/agent-core-effects/internal";
import { attemptEffect, lateOutputLogger, Logger } from "@moora/agent/internal";
import { digestOf } from "@moora/event-log";
import { EffectSession, readSession, type EffectParts, type SessionEffect } from "./effect-session.ts";
import { RestateFailure } from "./ingress.ts";
import type { RestateOptions } from "./options.ts";

/**
 * One attempt of Restate to run an effect, unless its session was removed. What the session refuses to record becomes the failure of
 * the effect: another attempt would report the same again.
 */
export async function runEffect(
  parts: EffectParts,
  { onProgress, onLog, context }: RestateOptions,
  started: SessionEffect,
  signal: AbortSignal,
): Promise<void> {
  const known = await readSession(parts.cache, started.id);
  // Its id may have another session.
  if (digestOf(known.header) !== started.header) return;
  const { effect } = started;
  const logger = new Logger(started.id, onLog);
  const onLateOutput = lateOutputLogger(logger);
  const session = new EffectSession(parts, { started, known, signal, logger });
  using live = session.live;
  try {
    await attemptEffect(parts.agent, effect, session, {
      context,
      notify(progress) {
        onProgress?.(started.id, progress);
        live?.notify(progress);
      },
      ...(onLateOutput === undefined ? {} : { onLateOutput }),
    });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const failure = failureInput(effect, error, systemClock.now());
    if (failure !== undefined) await session.report([failure]);
  }
}

/** Whether the session refused what an effect reported: an invalid input, or one that is too long. */
const isRefusal = (error: unknown): boolean =>
  error instanceof RestateFailure && (error.status === 400 || error.status === 413);
