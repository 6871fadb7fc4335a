/**
 * Measures the packed packages against the goals of the project: `pnpm run bench [suite or row ...] [--quick]`. Prints one
 * table.
 */
import { parseArgs } from "node:util";
import { goalsTable } from "./packed/goals-table.ts";
import { machineText } from "./packed/machine-text.ts";
import { installBenchmarks } from "./packed/project.ts";
import { quick, runSuites, thorough } from "./packed/run-suites.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean", default: false } },
});

const rows = await runSuites(installBenchmarks(), positionals, values.quick ? quick : thorough);
console.log(`${goalsTable(rows)} ${machineText()}`);
if (rows.some(({ failure }) => failure !== undefined)) process.exitCode = 1;
