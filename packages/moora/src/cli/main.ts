#!/usr/bin/env node
import manifest from "../../package.json" with { type: "json" };

/** The oldest Node that the packages run on: `engines.node` of the manifest. */
const needed = [22, 13] as const;

// Everything else is loaded after this check: an older Node cannot load it.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  process.stderr.write(
    `moora: Moora needs Node ${needed.join(".")} or newer, this is Node ${process.versions.node}.\n`,
  );
  process.exitCode = 1;
} else if (process.argv.length === 3 && process.argv[2] === "--version") {
  process.stdout.write(`${manifest.version}\n`);
} else {
  const { start } = await import("./start.ts");
  await start();
}
