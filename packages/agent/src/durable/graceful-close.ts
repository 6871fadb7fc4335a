import type { Clock } from "@moora/agent-core-effects";
import { setLongTimeout } from "@moora/agent-core-effects/internal";

export interface CloseOptions {
  readonly clock: Clock;
  /** Called once, by the first `close`: from then on no effect may start. */
  readonly onBegin: () => void;
  /** Resolves when no work is running. */
  readonly drained: () => Promise<void>;
  /** Ends the work that is still running. */
  readonly shutDown: () => Promise<void>;
}

/**
 * Returns a function that closes a session once. It waits for running work for up to `graceMs`, and then ends that: 0 does not wait, and
 * Infinity waits without a limit. A second call ends the wait. Resolves when the session is closed.
 */
export function gracefulClose({
  clock,
  onBegin,
  drained,
  shutDown,
}: CloseOptions): (graceMs: number) => Promise<void> {
  const end = Promise.withResolvers<void>();
  let closing: Promise<void> | undefined;
  const close = async (graceMs: number): Promise<void> => {
    onBegin();
    if (graceMs > 0) {
      const cancelTimer = setLongTimeout(clock, graceMs, end.resolve);
      await Promise.race([drained(), end.promise]);
      cancelTimer();
    }
    await shutDown();
  };
  return (graceMs: number): Promise<void> => {
    if (closing !== undefined) end.resolve();
    return (closing ??= close(graceMs));
  };
}
