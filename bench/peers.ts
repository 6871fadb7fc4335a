/**
 * Measures the same steps and turns with other libraries: `pnpm run bench:peers [--quick]`. Installs their newest releases
 * into a folder of their own. Prints one table, and which releases these are.
 */
import { parseArgs } from "node:util";
import { goalsTable } from "./packed/goals-table.ts";
import { installPeers } from "./packed/install-peers.ts";
import { machineText } from "./packed/machine-text.ts";
import { installBenchmarks } from "./packed/project.ts";
import { quick, runSuites, thorough } from "./packed/run-suites.ts";

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false } } });

const copy = installBenchmarks();
const peers = installPeers();
const rows = await runSuites(copy, ["step", "turn/100"], values.quick ? quick : thorough);
console.log(`${goalsTable(rows)} ${machineText()}\n\n${peers.join("\n")}`);
