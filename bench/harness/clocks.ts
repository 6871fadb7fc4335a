import { performance } from "node:perf_hooks";

/** A clock, in milliseconds. Only differences have a meaning. */
export type BenchClock = () => number;

/** The time of the wall, for work that waits for a disk. */
export const wallTime: BenchClock = () => performance.now();

/**
 * The time in which this thread has run, or its event loop has waited: the time of the wall without the time in which
 * other processes had the core. It does not contain the time in which a system call waits for a disk.
 */
export const ownTime: BenchClock = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000 + performance.eventLoopUtilization().idle;
};

/** Milliseconds of some work. */
export async function msOf(clock: BenchClock, work: () => unknown): Promise<number> {
  const from = clock();
  await work();
  return clock() - from;
}
