/** Proofs that consist of very many cases: in chunks, on every processor, resumable after an interruption. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { root } from "../../scripts/workspace.ts";

/** The result of a number of cases. */
export interface Tally {
  readonly cases: number;
  /** One line each, with what reproduces it. */
  readonly failures: readonly string[];
  /** What else was counted, by name. */
  readonly counts?: Readonly<Record<string, number>>;
}

export interface ChunkedProof {
  readonly name: string;
  /** The file that says `prove`: workers run it too. */
  readonly file: string;
  /** How many cases there are to be. */
  readonly goal: number;
  /** How many of them are one piece of work: some seconds long. */
  readonly chunk: number;
  /** The cases from number `first` on, so many of them. The same numbers and seed, the same cases. */
  run(first: number, size: number, seed: number): Tally | Promise<Tally>;
  /** What is wrong with the whole, by what was counted. */
  complaints?(counts: Readonly<Record<string, number>>): readonly string[];
}

interface Progress {
  readonly version: string;
  readonly seed: number;
  readonly goal: number;
  /** Cases below this number are in the tally. */
  readonly next: number;
  readonly seconds: number;
  readonly tally: Tally;
}

interface Order {
  readonly first: number;
  readonly size: number;
  readonly seed: number;
}

const most = 20;

/**
 * Runs a proof: `--seed N` (default 1), `--goal N` cases, `--jobs N` threads, `--fresh` forgets what was done before. The
 * last line is a JSON summary; the exit code is 1 when a case failed.
 */
export async function prove(proof: ChunkedProof): Promise<void> {
  if (isMainThread) return await lead(proof);
  parentPort?.on("message", ({ first, size, seed }: Order) => void work(proof, first, size, seed));
}

/** A failure of the proof itself ends the worker, and by that everything. */
async function work(proof: ChunkedProof, first: number, size: number, seed: number): Promise<void> {
  parentPort?.postMessage(await proof.run(first, size, seed));
}

async function lead(proof: ChunkedProof): Promise<void> {
  const { values } = parseArgs({
    options: {
      seed: { type: "string", default: "1" },
      goal: { type: "string", default: String(proof.goal) },
      jobs: { type: "string", default: String(availableParallelism()) },
      fresh: { type: "boolean", default: false },
    },
  });
  const start = startOf(proof, Number(values.seed), Number(values.goal), values.fresh);
  console.log(`${proof.name}: ${start.goal} cases, seed ${start.seed}, from case ${start.next} on`);
  const progress = await inParallel(proof, start, Number(values.jobs));
  const { cases, counts = {} } = progress.tally;
  const failures = [...progress.tally.failures, ...(proof.complaints?.(counts) ?? [])];
  for (const failure of failures) console.log(`FAILED  ${failure}`);
  for (const [what, count] of Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`${String(count).padStart(12)}  ${what}`);
  const seconds = Math.round(progress.seconds);
  console.log(JSON.stringify({ proof: proof.name, cases, failures: failures.length, seconds }));
  process.exitCode = failures.length === 0 ? 0 : 1;
}

/** Chunks are begun in order and counted in order, so that what is done is one number. */
async function inParallel(proof: ChunkedProof, start: Progress, jobs: number): Promise<Progress> {
  const begun = performance.now();
  const done = new Map<number, Tally>();
  let progress = start;
  let next = start.next;
  const isOver = (): boolean => next >= start.goal || progress.tally.failures.length >= most;
  const lane = async (): Promise<void> => {
    const worker = new Worker(proof.file, { argv: process.argv.slice(2) });
    while (!isOver()) {
      const order = { first: next, size: Math.min(proof.chunk, start.goal - next), seed: start.seed };
      next += order.size;
      done.set(order.first, await answered(worker, order));
      for (let tally = done.get(progress.next); tally !== undefined; tally = done.get(progress.next)) {
        done.delete(progress.next);
        progress = {
          ...progress,
          next: progress.next + tally.cases,
          seconds: start.seconds + (performance.now() - begun) / 1_000,
          tally: sum(progress.tally, tally),
        };
      }
      save(proof, progress);
    }
    await worker.terminate();
  };
  await Promise.all(Array.from({ length: jobs }, lane));
  return progress;
}

const answered = (worker: Worker, order: Order): Promise<Tally> =>
  new Promise((resolve, reject) => {
    worker.once("message", (tally: Tally) => {
      worker.off("error", reject);
      resolve(tally);
    });
    worker.once("error", reject);
    worker.postMessage(order);
  });

function sum(a: Tally, b: Tally): Tally {
  const counts = { ...a.counts };
  for (const [what, count] of Object.entries(b.counts ?? {})) counts[what] = (counts[what] ?? 0) + count;
  return { cases: a.cases + b.cases, failures: [...a.failures, ...b.failures].slice(0, most), counts };
}

const folder = join(root, ".prove");
const fileOf = ({ name }: ChunkedProof): string => join(folder, `${name.replaceAll(" ", "-")}.json`);

/** What was done before counts only for the same code, seed and goal. */
function startOf(proof: ChunkedProof, seed: number, goal: number, fresh: boolean): Progress {
  const version = versionOfCode();
  const start = { version, seed, goal, next: 0, seconds: 0, tally: { cases: 0, failures: [] } };
  if (fresh) return start;
  try {
    const saved: Progress = JSON.parse(readFileSync(fileOf(proof), "utf8"));
    const continues = saved.version === version && saved.seed === seed && saved.goal === goal;
    return continues && saved.tally.failures.length === 0 ? saved : start;
  } catch {
    return start;
  }
}

function save(proof: ChunkedProof, progress: Progress): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(fileOf(proof), JSON.stringify(progress));
}

const versionOfCode = (): string =>
  spawnSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" }).stdout.trim();
