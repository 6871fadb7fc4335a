import { systemClock } from "@moora/agent";
import { failureInput } from "@moora/agent-core-effects/internal";
import { attemptEffect, Logger } from "@moora/agent/internal";
import { digestOf } from "@moora/event-log";
import { EffectReports, readSession, type EffectParts, type SessionEffect } from "./effect-reports.ts";
import { RestateFailure } from "./ingress.ts";
import type { RestateOptions } from "./options.ts";
import { sessionIdOf } from "./posted-inputs.ts";

/**
 * One attempt of Restate to run an effect, unless its session was removed. It talks to the session from outside the journal, so that its
 * calls may vary. What the session refuses to record becomes the failure of the effect: another attempt would report the same again.
 */
export async function runEffect(
  parts: EffectParts,
  { onProgress, onLog, context }: RestateOptions,
  { id, effect, header }: SessionEffect,
  signal: AbortSignal,
): Promise<void> {
  const known = await readSession(parts.cache, id);
  // Its id may have another session.
  if (digestOf(known.header) !== header) return;
  const reports = new EffectReports(parts, { id, from: effect.key, header, logger: new Logger(id, onLog) });
  using live = parts.live?.begin({
    id,
    key: effect.key,
    known,
    report: (input) => reports.dispatch([input]),
  });
  const session = {
    id,
    identity: sessionIdOf(id, known.header),
    newest: async () => {
      signal.throwIfAborted();
      const { header: now, session } = await reports.view();
      return now === known.header ? session.state : undefined;
    },
    append: async (inputs: Parameters<EffectReports["dispatch"]>[0]) => {
      await live?.reporting();
      return await reports.dispatch(inputs);
    },
    untilResumed: () => reports.untilResumed(signal),
    withSignal: (work: (signal: AbortSignal) => Promise<void>) => work(signal),
  };
  try {
    await attemptEffect(parts.agent, effect, session, {
      clock: systemClock,
      context,
      onProgress: (_, progress) => {
        onProgress?.(id, progress);
        live?.notify(progress);
      },
      ...(onLog === undefined ? {} : { onLog }),
    });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const failure = failureInput(effect, error, systemClock.now());
    if (failure !== undefined) await reports.report([failure]);
  }
}

/** Whether the session refused what an effect reported: an invalid input, or one that is too long. */
const isRefusal = (error: unknown): boolean =>
  error instanceof RestateFailure && (error.status === 400 || error.status === 413);
