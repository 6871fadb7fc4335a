#!/usr/bin/env node
// The command line from its source, for a clone of the repository. The package contains the built one instead.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const version = process.versions.node;
const [major, minor] = version.split(".").map(Number);

// The same as in src/cli/node-version.ts, which an older release cannot load from its source.
if (major < 22 || (major === 22 && minor < 13)) {
  console.error(`moora needs Node 22.13 or newer, this is ${version}.`);
  process.exitCode = 2;
} else run();

function run() {
  const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
  const child = spawn(process.execPath, ["--conditions=@moora/source", main, ...process.argv.slice(2)], {
    stdio: "inherit",
  });
  // The terminal sends Ctrl-C to both, and the command decides what it means; other signals are passed on.
  process.on("SIGINT", () => undefined);
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code) => {
    process.exitCode = code ?? 1;
  });
}
