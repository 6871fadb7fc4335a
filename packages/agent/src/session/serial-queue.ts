import { isPromise } from "@moora/agent-core-effects/internal";

/**
 * Runs one piece of work after the other: while one takes time, those that come after it wait. `onError` hears what one
 * throws or rejects with; the next one runs all the same.
 */
export function serialQueue(onError: (error: unknown) => void): (work: () => void | Promise<void>) => void {
  const waiting: (() => void | Promise<void>)[] = [];
  let busy = false;

  const proceed = (): void => {
    busy = false;
    for (let work = waiting.shift(); work !== undefined; work = waiting.shift()) {
      run(work);
      if (isBusy()) return;
    }
  };

  /** Asked anew each time: what runs changes it. */
  const isBusy = (): boolean => busy;

  const run = (work: () => void | Promise<void>): void => {
    try {
      const done = work();
      if (!isPromise(done)) return;
      busy = true;
      done.then(proceed, (error: unknown) => {
        onError(error);
        proceed();
      });
    } catch (error) {
      onError(error);
    }
  };

  return (work) => {
    if (busy) waiting.push(work);
    else run(work);
  };
}
