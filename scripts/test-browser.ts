/** Runs the tests that need Chromium. Where there is none, says how to get it, and runs nothing. */
import { spawnSync } from "node:child_process";
import { chromiumAdvice, chromiumPath } from "@moora/testbed/chromium";

if (chromiumPath() === undefined) console.error(`Not run. ${chromiumAdvice}`);
else {
  const args = ["run", "--config", "vitest.browser.config.ts", ...process.argv.slice(2)];
  const { status } = spawnSync("vitest", args, { stdio: "inherit" });
  process.exitCode = status ?? 1;
}
