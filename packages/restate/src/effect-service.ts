import * as restate from "@restatedev/restate-sdk";
import { runEffect } from "./effect-attempt.ts";
import { retentionOptions, serviceNames, type RestateOptions } from "./options.ts";
import type { EffectParts, SessionEffect } from "./effect-session.ts";

export interface EffectHandlers {
  run(ctx: restate.Context, effect: SessionEffect): Promise<void>;
}

export type EffectService = restate.ServiceDefinition<string, EffectHandlers>;

const halfAnHourMs = 1_800_000;

/** The service that runs the effects of sessions, one invocation for each. */
export function effectService(parts: EffectParts, options: RestateOptions): EffectService {
  const { effects: name } = serviceNames(parts.agent.name);
  const { longestEffectMs: milliseconds = halfAnHourMs } = options;
  return restate.service({
    name,
    options: {
      ingressPrivate: true,
      explicitCancellation: true,
      // An effect that streams for minutes writes nothing to its journal: Restate must not take that for a hang.
      inactivityTimeout: { milliseconds },
      abortTimeout: { milliseconds },
      retryPolicy: { initialInterval: 50, maxInterval: 10_000 },
      ...retentionOptions(options.retentionMs),
    },
    handlers: {
      run: async (ctx: restate.Context, started: SessionEffect) => {
        const abort = new AbortController();
        ctx.request().attemptCompletedSignal.addEventListener("abort", () => abort.abort());
        const perform = ctx.run(started.effect.key, () => runEffect(parts, options, started, abort.signal));
        await restate.RestatePromise.race([perform, cancellationOf(ctx, abort)]);
      },
    },
  });
}

/** Rejects when the invocation is canceled, and aborts its work first. */
function cancellationOf(ctx: restate.Context, abort: AbortController): restate.RestatePromise<void> {
  // The only way to learn of a cancel while a step runs is in the part of the SDK that is marked as internal.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const internal = ctx as unknown as restate.internal.ContextInternal;
  return internal.cancellation().map(() => {
    abort.abort(new DOMException("The session no longer wants this work.", "AbortError"));
    throw new restate.TerminalError("canceled", { errorCode: 409 });
  });
}
