import { ownTime, type BenchClock } from "./clocks.ts";
import type { Sampler } from "./row.ts";

/** One of the ways that a row compares. */
export interface Way {
  readonly name: string;
  /** Runs the work for at least this long. */
  readonly warmUp: (ms: number) => Promise<void>;
  /** Takes one sample, in the unit of the row. */
  readonly sample: () => Promise<number>;
}

/** Work whose result does not matter. A promise is awaited. */
export type Work = () => unknown;

/** The shortest sample: work that takes less is repeated. */
const shortestMs = 20;

/** One turn of the event loop: what the work has left for later belongs to its sample. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function repeat(work: Work, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const done = work();
    if (done instanceof Promise) await done;
  }
}

/** Runs work for at least so many milliseconds of a clock; returns how long one round takes at the end. */
async function warmUpWork(work: Work, ms: number, clock: BenchClock): Promise<number> {
  const until = clock() + ms;
  for (let rounds = 1; ; rounds *= 2) {
    const from = clock();
    await repeat(work, rounds);
    const now = clock();
    if (now >= until) return (now - from) / rounds;
  }
}

/**
 * Before each sample, new garbage is collected, so that no way pays for what the one before left. A full collection there
 * would discard optimized code, and every sample would measure the compiler.
 */
const prepareSample = (): void => collectGarbage("minor");

/**
 * A way whose samples are microseconds of the own time of this thread for a unit; `units` is how many of them one round of
 * the work has. For work in memory.
 */
export function timedWay(name: string, units: number, work: Work): Way {
  let rounds = 1;
  return {
    name,
    async warmUp(ms) {
      rounds = Math.max(1, Math.ceil(shortestMs / (await warmUpWork(work, ms, ownTime))));
    },
    async sample() {
      prepareSample();
      const from = ownTime();
      await repeat(work, rounds);
      await turn();
      return ((ownTime() - from) * 1_000) / (rounds * units);
    },
  };
}

/** A way that measures a part of its work. */
export interface PartlyTimed {
  readonly name: string;
  /** How many units one round of the work has. */
  readonly units: number;
  readonly clock: BenchClock;
  /** Returns the milliseconds of the part, by the clock. */
  readonly work: () => Promise<number>;
}

/** A way whose samples are microseconds of the measured part for a unit. */
export function partlyTimedWay({ name, units, clock, work }: PartlyTimed): Way {
  let rounds = 1;
  return {
    name,
    async warmUp(ms) {
      rounds = Math.max(1, Math.ceil(shortestMs / (await warmUpWork(work, ms, clock))));
    },
    async sample() {
      prepareSample();
      let measured = 0;
      for (let round = 0; round < rounds; round += 1) measured += await work();
      return (measured * 1_000) / (rounds * units);
    },
  };
}

/** A way with other samples than those of another one. */
export const convertedWay = (way: Way, convert: (sample: number) => number): Way => ({
  ...way,
  sample: async () => convert(await way.sample()),
});

/** Takes samples of the ways in turns, forward and backward, so that noise of the machine meets all of them alike. */
export const alternating = (...ways: readonly Way[]): Sampler => ({
  names: ways.map(({ name }) => name),
  async warmUp(ms) {
    for (const way of ways) await way.warmUp(ms);
  },
  async sample(index) {
    const order = [...ways.keys()];
    if (index % 2 === 1) order.reverse();
    const samples = ways.map(() => Number.NaN);
    for (const at of order) samples[at] = (await ways[at]?.sample()) ?? Number.NaN;
    return samples;
  },
});

/** Collects garbage: all of it, or only what is new. Needs Node's option `--expose-gc`. */
export function collectGarbage(type: "major" | "minor"): void {
  if (globalThis.gc === undefined) throw new Error("Benchmarks need the option --expose-gc of Node.");
  globalThis.gc({ type });
}
