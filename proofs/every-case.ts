/**
 * The tests without a browser, with every case of those that run a sample otherwise.
 *
 *   every-case.ts [FILES]
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { conclude } from "./parts/summary.ts";

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
}

const startedAt = performance.now();
const folder = mkdtempSync(join(tmpdir(), "moora-every-case-"));
const outputFile = join(folder, "report.json");
const args = [
  "run",
  ...process.argv.slice(2),
  "--reporter=dot",
  "--reporter=json",
  `--outputFile.json=${outputFile}`,
];
const { status } = spawnSync("vitest", args, {
  stdio: ["ignore", "inherit", "inherit"],
  env: { ...process.env, MOORA_PROVE: "1" },
});
const report: Report = JSON.parse(readFileSync(outputFile, "utf8"));
rmSync(folder, { recursive: true });
const { numPassedTests, numFailedTests } = report;
// An error outside of the tests fails the run without a failed test.
const failures = numFailedTests > 0 || status === 0 ? numFailedTests : 1;
conclude({ proof: "every-case", cases: numPassedTests + numFailedTests, failures }, startedAt);
