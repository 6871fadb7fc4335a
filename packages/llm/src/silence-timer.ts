/** The longest time a timer can wait for. */
const longestMs = 2 ** 31 - 1;

/** One timer for silence: each start replaces the one before. */
export interface SilenceTimer {
  /** A limit that no timer can wait for, such as Infinity, is no limit. */
  start(limitMs: number): void;
  end(): void;
}

export function silenceTimer(over: (limitMs: number) => void): SilenceTimer {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = (): void => clearTimeout(timer);
  return {
    start(limitMs) {
      end();
      if (limitMs >= 0 && limitMs <= longestMs) timer = setTimeout(() => over(limitMs), limitMs);
    },
    end,
  };
}
