#!/usr/bin/env node
// The command line from its source, for a clone of the repository. The package has the built one instead.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
const child = spawn(process.execPath, ["--conditions=@moora/source", main, ...process.argv.slice(2)], {
  stdio: "inherit",
});
// The terminal gives Ctrl-C to both, and the command decides what it means; other signals are passed on.
process.on("SIGINT", () => undefined);
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
