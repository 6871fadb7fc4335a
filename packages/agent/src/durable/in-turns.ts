import { nextTurn } from "@moora/event-log/store";

/** The steps that are done before the event loop has a turn, for timers, I/O and the work of others. */
const stepsPerTurn = 200;

/** Does the steps of a generator, and resolves with what it returns. Yields to the event loop after every `stepsPerTurn` of them. */
export async function finishInTurns<Result>(steps: Iterator<void | Promise<void>, Result>): Promise<Result> {
  for (let count = 1; ; count += 1) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (value !== undefined) await value;
    if (count % stepsPerTurn === 0) await new Promise<void>(nextTurn);
  }
}

/** Calls `work` with each item in turns of the event loop, in order, and waits where it returns a promise. */
export async function inTurns<Item>(
  items: Iterable<Item>,
  work: (item: Item) => void | Promise<void>,
): Promise<void> {
  await finishInTurns(Iterator.from(items).map(work));
}
