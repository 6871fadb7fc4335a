import type { Tool } from "../tool/define-tool.ts";
import type { ToolOutcome } from "../tool/tool-reply.ts";
import { onAbort, type LazyAbort } from "./abort.ts";
import type { EffectHost } from "./host.ts";
import { setLongTimeout } from "./long-timeout.ts";

interface TimerOptions extends Pick<EffectHost, "clock"> {
  readonly ms: number;
  readonly late: LazyAbort;
}

/** Starts a timer that stops while its timeout is held. Returns a function that cancels it. */
function startTimer({ clock, ms, late }: TimerOptions, onEnd: () => void): () => void {
  let left = ms;
  let startedAt = 0;
  let cancel: (() => void) | undefined;
  const start = (): void => {
    startedAt = clock.now();
    cancel = setLongTimeout(clock, left, onEnd);
  };
  late.onHold((isHeld) => {
    if (cancel !== undefined) left = Math.max(0, left - (clock.now() - startedAt));
    cancel?.();
    cancel = undefined;
    if (!isHeld) start();
  });
  if (!late.isHeld) start();
  return () => {
    late.onHold(() => undefined);
    cancel?.();
  };
}

/**
 * The outcome of a tool, or a failure on timeout and when the call is no longer wanted. A later result of the tool is
 * dropped. A synchronous tool has no timer.
 */
export function withTimeout<Outcome>(
  running: Promise<Outcome>,
  { definition }: Tool,
  host: EffectHost,
  late: LazyAbort,
): Promise<Outcome | ToolOutcome> {
  if (host.synchronous === true) return running;
  return new Promise((resolve, reject) => {
    const timeoutMs = definition.timeoutMs ?? host.limits.toolTimeoutMs;
    const cancelTimer = startTimer({ clock: host.clock, ms: timeoutMs, late }, () => {
      const error = `The tool did not answer within ${timeoutMs} ms. It may have had its effect.`;
      late.abort(new DOMException(error, "TimeoutError"));
      stopListening();
      resolve({ isSuccess: false, error, code: "timeout", retryable: true });
    });
    const stopListening = onAbort(host, () => {
      cancelTimer();
      resolve({ isSuccess: false, error: "Cancelled.", code: "cancelled" });
    });
    const ended = (): void => {
      cancelTimer();
      stopListening();
    };
    running.then(
      (outcome) => {
        ended();
        resolve(outcome);
      },
      (error: unknown) => {
        ended();
        reject(error);
      },
    );
  });
}
