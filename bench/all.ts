/** Every benchmark in one run, one after the other, on the machine as it is. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";

for (const name of ["agent-step", "fan-out", "fold", "logs", "import-time"]) {
  console.log(`\n== ${name}`);
  const file = join(import.meta.dirname, `${name}.ts`);
  spawnSync(process.execPath, ["--conditions=@moora/source", file], { stdio: "inherit" });
}
