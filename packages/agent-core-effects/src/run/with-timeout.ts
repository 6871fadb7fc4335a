import type { Tool } from "../tool/define-tool.ts";
import type { ToolOutcome } from "../tool/tool-reply.ts";
import { isAborted, onAbort, type LazyAbort } from "./abort.ts";
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

interface TimedCall<Outcome> {
  readonly tool: Tool;
  readonly late: LazyAbort;
  /** The outcome of a tool that rejects. */
  readonly caught: (error: unknown) => Outcome;
  /** Receives an outcome that comes after the timeout, or when the call is no longer wanted. Default: it is dropped. */
  readonly dropped?: (outcome: Outcome) => void;
}

/** The outcome of a tool, or a failure on timeout and when the call is no longer wanted. A synchronous tool has no timer. */
export function withTimeout<Outcome>(
  running: Promise<Outcome>,
  { tool: { definition }, late, caught, dropped }: TimedCall<Outcome>,
  host: EffectHost,
): Promise<Outcome | ToolOutcome> {
  if (host.synchronous === true) return running.catch(caught);
  return new Promise((resolve) => {
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
    const ended = (outcome: Outcome): void => {
      cancelTimer();
      stopListening();
      if (isAborted(host) || late.isAborted) dropped?.(outcome);
      resolve(outcome);
    };
    running.then(ended, (error: unknown) => ended(caught(error)));
  });
}
