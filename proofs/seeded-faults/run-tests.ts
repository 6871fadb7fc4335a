import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

/** What became of one test; `name` has the names of its groups before it, as in "a log > keeps all". */
export interface TestResult {
  readonly file: string;
  readonly name: string;
  readonly status: "passed" | "failed" | "late" | "skipped";
}

export interface TestRun {
  readonly results: readonly TestResult[];
  /** Whether the run had to be ended. */
  readonly isStuck: boolean;
  /** What it printed, for when there are no results. */
  readonly output: string;
}

/** A test that waits so long waits for ever: none of those that are chosen takes a tenth of it. */
const testTimeoutMs = 60_000;

/** Runs the tests of some files whose names match, in a tree. */
export async function runTests(
  tree: string,
  files: readonly string[],
  names: RegExp,
  limitMs: number,
): Promise<TestRun> {
  const report = join(tree, "seeded-faults.json");
  rmSync(report, { force: true });
  const { isStuck, output } = await command(
    tree,
    [
      join(tree, "node_modules/vitest/vitest.mjs"),
      "run",
      ...files,
      `--testNamePattern=${names.source}`,
      "--reporter=json",
      `--outputFile=${report}`,
      `--testTimeout=${testTimeoutMs}`,
      "--passWithNoTests=false",
    ],
    limitMs,
  );
  return { results: resultsIn(report, tree), isStuck, output };
}

const command = (
  cwd: string,
  args: readonly string[],
  limitMs: number,
): Promise<{ readonly isStuck: boolean; readonly output: string }> =>
  new Promise((resolve, reject) => {
    // A group of its own, so that the workers of a run that is stuck end with it.
    const child = spawn(process.execPath, args, { cwd, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let isStuck = false;
    const endGroup = (): void => {
      isStuck = true;
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    };
    const timer = setTimeout(endGroup, limitMs);
    const keep = (text: Buffer): void => {
      output = (output + text.toString()).slice(-4_000);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.once("error", reject);
    child.once("close", () => {
      clearTimeout(timer);
      resolve({ isStuck, output });
    });
  });

/** The part of the runner's report that is read here. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

function resultsIn(report: string, tree: string): readonly TestResult[] {
  const { testResults } = readReport(report);
  return testResults.flatMap(({ name: file, assertionResults }) =>
    assertionResults.map(({ ancestorTitles, title, status, failureMessages }): TestResult => {
      const isLate = failureMessages.some((message) => message.includes("Test timed out in"));
      return {
        file: file.slice(tree.length + 1),
        name: [...ancestorTitles, title].join(" > "),
        status: status === "failed" ? (isLate ? "late" : "failed") : status === "passed" ? status : "skipped",
      };
    }),
  );
}

function readReport(report: string): Report {
  try {
    // The runner wrote it.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return JSON.parse(readFileSync(report, "utf8")) as Report;
  } catch {
    return { testResults: [] };
  }
}
