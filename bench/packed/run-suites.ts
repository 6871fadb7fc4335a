import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PostgresServer } from "@moora/testbed/postgres/server";
import type { ChildOptions, ChildRow } from "../harness/child.ts";
import { isSelected, suiteNames, type SuiteName } from "../harness/suites.ts";
import type { Effort, RowSamples } from "../harness/take-samples.ts";
import { peersFolder } from "./install-peers.ts";

/** How thoroughly the suites are measured. */
export interface Thoroughness extends Effort {
  /** The processes of each suite. The compiler does not decide alike in all of them. */
  readonly processes: number;
}

export const thorough: Thoroughness = { processes: 3, warmUpMs: 1_000, samples: 9, budgetMs: 6_000 };
export const quick: Thoroughness = { processes: 1, warmUpMs: 300, samples: 3, budgetMs: 2_000 };

/** A row with the samples of all processes. */
export interface MeasuredRow extends Omit<ChildRow, "result"> {
  readonly samples: readonly (readonly number[])[];
  readonly names: readonly string[];
  /** Why a process could not measure the row. */
  readonly failure?: string;
}

const optionsOfNode = [
  "--expose-gc",
  // Collections between samples would otherwise discard compiled code.
  "--no-flush-bytecode",
  "--disable-warning=ExperimentalWarning",
];

/** Measures the rows that names select, from a copy of the benchmarks. */
export async function runSuites(
  copy: string,
  selection: readonly string[],
  thoroughness: Thoroughness,
): Promise<readonly MeasuredRow[]> {
  const suites = suiteNames.filter((suite) => isSuiteSelected(suite, selection));
  if (suites.length === 0) throw new Error(`Unknown row or suite. Suites: ${suiteNames.join(", ")}.`);
  await using resources = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), "moora-bench-"));
  resources.defer(() => rmSync(directory, { recursive: true, force: true }));
  checkIsDisk(directory);
  const rows: MeasuredRow[] = [];
  for (const suite of suites) {
    const needsPostgres = suite === "durable-step" && isSelected("durable-step/postgres", selection);
    const postgres = needsPostgres ? await startPostgres(resources) : "PostgreSQL was not started.";
    const { processes, ...effort } = thoroughness;
    const options = { suite, selection, effort, directory, postgres, peers: peersFolder };
    const runs: (readonly ChildRow[])[] = [];
    for (let run = 1; run <= processes; run += 1) {
      console.error(`${suite}, process ${run} of ${processes}`);
      runs.push(await runSuite(copy, options));
    }
    rows.push(...mergeRuns(runs));
  }
  return rows;
}

const isSuiteSelected = (suite: SuiteName, selection: readonly string[]): boolean =>
  selection.length === 0 || selection.some((name) => name.split("/")[0] === suite);

/** A server that syncs its log, as a server in use does. */
async function startPostgres(resources: AsyncDisposableStack): Promise<ChildOptions["postgres"]> {
  try {
    const server = await PostgresServer.start({ isDurable: true });
    resources.use(server);
    return { url: server.url };
  } catch (error) {
    return `PostgreSQL cannot be started: ${String(error)}`;
  }
}

async function runSuite(copy: string, options: ChildOptions): Promise<readonly ChildRow[]> {
  const rows: ChildRow[] = [];
  const child = fork(join(copy, "harness/child.ts"), [JSON.stringify(options)], { execArgv: optionsOfNode });
  // What a child sends is a row: it is started with our own program.
  child.on("message", (row) => rows.push(row as ChildRow));
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`The process of the suite ${options.suite} ended with ${String(code)}.`);
  return rows;
}

/** Joins the samples of a row from all processes. */
function mergeRuns(runs: readonly (readonly ChildRow[])[]): readonly MeasuredRow[] {
  return (runs[0] ?? []).map(({ name, what, unit, goal }) => {
    const results = runs.flatMap((rows) => rows.find((row) => row.name === name)?.result ?? []);
    const failure = results.find((result) => typeof result === "string");
    const parts = results.filter((result): result is RowSamples => typeof result !== "string");
    const names = parts[0]?.names ?? [];
    const samples = names.map((_name, at) => parts.flatMap((part) => part.samples[at] ?? []));
    return { name, what, unit, goal, names, samples, ...(failure === undefined ? {} : { failure }) };
  });
}

/** The type of a file system in memory on Linux. */
const tmpfs = 0x01021994;

function checkIsDisk(directory: string): void {
  if (statfsSync(directory).type !== tmpfs) return;
  console.error(`${tmpdir()} is in memory: set TMPDIR to a folder on a disk, or durable rows mean nothing.`);
}
