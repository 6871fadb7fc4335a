import { isPromise } from "@moora/agent-core-effects/internal";

type Work = () => void | Promise<void>;

/**
 * Runs one piece of work after the other, in the order of the calls: work that is added while another piece runs, also by
 * that piece itself, waits for its end. `onError` receives what a piece throws or rejects with; the next one runs all the same.
 */
export function serialQueue(onError: (error: unknown) => void): (work: Work) => void {
  const waiting: Work[] = [];
  let isRunning = false;

  const run = (): void => {
    isRunning = true;
    for (let work = waiting.shift(); work !== undefined; work = waiting.shift()) {
      const running = started(work, onError);
      if (running === undefined) continue;
      void running.then(run);
      return;
    }
    isRunning = false;
  };

  return (work) => {
    waiting.push(work);
    if (!isRunning) run();
  };
}

/** Starts a piece of work. Returns a promise that never rejects if it takes time. */
function started(work: Work, onError: (error: unknown) => void): Promise<void> | undefined {
  try {
    const result = work();
    return isPromise(result) ? result.then(undefined, onError) : undefined;
  } catch (error) {
    onError(error);
    return undefined;
  }
}
