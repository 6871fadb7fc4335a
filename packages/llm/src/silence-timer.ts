/** The maximum delay of a timer. */
const maxMs = 2 ** 31 - 1;

/** A timer that is restarted by every sign of activity. */
export interface SilenceTimer {
  /** Starts the timer again. A limit above the maximum delay of a timer, such as Infinity, disables it. */
  start(limitMs: number): void;
  /** Stops the timer. */
  end(): void;
}

/** Creates a timer that calls `onSilence` with the limit that was exceeded. */
export function silenceTimer(onSilence: (limitMs: number) => void): SilenceTimer {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = (): void => clearTimeout(timer);
  return {
    start(limitMs) {
      end();
      if (limitMs >= 0 && limitMs <= maxMs) timer = setTimeout(() => onSilence(limitMs), limitMs);
    },
    end,
  };
}
