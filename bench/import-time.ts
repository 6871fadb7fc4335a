/** How long a process takes to import what was built, over one that imports nothing. Needs `pnpm run build` first. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { table } from "./harness/table.ts";

const packages = ["moorex", "agent-core-state-machine", "agent-core-effects", "agent", "moora"];
const fileOf = (name: string): string =>
  join(import.meta.dirname, "..", "packages", name, "dist", "index.js");

/** The median of some whole processes, in milliseconds. */
function processMs(code: string): number {
  const samples = Array.from({ length: 15 }, () => {
    const from = performance.now();
    spawnSync(process.execPath, ["--input-type=module", "-e", code]);
    return performance.now() - from;
  });
  return samples.toSorted((a, b) => a - b)[7] ?? Number.NaN;
}

if (packages.every((name) => existsSync(fileOf(name)))) {
  const nothing = processMs("");
  const rows = packages.map((name) => [
    name,
    (processMs(`import ${JSON.stringify(fileOf(name))}`) - nothing).toFixed(0),
  ]);
  console.log(table(["import", "ms"], rows));
} else console.log("import time: build the packages first (pnpm run build)");
