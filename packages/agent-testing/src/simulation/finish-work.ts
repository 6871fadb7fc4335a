import { InvariantBroken } from "./invariant-broken.ts";

/** The outcome of a promise. */
export type Outcome<T> = { readonly value: T } | { readonly error: unknown };

/** The maximum number of rounds within which work that needs only appends ends. */
const mostRounds = 200;

/** Waits for work, and lets through what it needs between rounds. V14: it ends. */
export async function finishWork<T>(
  work: Promise<T>,
  name: string,
  letThrough: () => void,
): Promise<Outcome<T>> {
  const settled: Outcome<T>[] = [];
  work.then(
    (value) => settled.push({ value }),
    (error: unknown) => settled.push({ error }),
  );
  for (let round = 0; round <= mostRounds; round += 1) {
    const [outcome] = settled;
    if (outcome !== undefined) return outcome;
    letThrough();
    await nextTurn();
  }
  return { error: new InvariantBroken("V14", `${name} does not get to its end`) };
}

/** Runs all pending microtasks. */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    const immediate: unknown = Reflect.get(globalThis, "setImmediate");
    if (typeof immediate === "function") Reflect.apply(immediate, undefined, [resolve]);
    else setTimeout(resolve, 0);
  });
