/**
 * Runs the tests that need Chromium. Where there is none, prints how to get it, and runs nothing; in CI (`CI` is set) and with
 * `--required` that is a failure.
 */
import { spawnSync } from "node:child_process";
import { chromiumAdvice, chromiumPath } from "@moora/testbed/chromium";

const required = "--required";
const isRequired = process.argv.includes(required) || !["", "0", "false"].includes(process.env["CI"] ?? "");

if (chromiumPath() === undefined) {
  console.error(`Not run. ${chromiumAdvice}`);
  if (isRequired) process.exitCode = 1;
} else {
  const given = process.argv.slice(2).filter((argument) => argument !== required);
  const args = ["run", "--config", "vitest.browser.config.ts", ...given];
  const { status } = spawnSync("vitest", args, { stdio: "inherit" });
  process.exitCode = status ?? 1;
}
