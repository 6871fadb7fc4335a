import { spawnSync } from "node:child_process";

/** A check: the command exits with 0 when it passes. */
export interface Step {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * Runs every step, also after a failure, and prints the result and the seconds of each at the end. Sets the exit code to 1 if
 * one failed.
 */
export function runSteps(steps: readonly Step[]): void {
  const rows: string[] = [];
  let failures = 0;
  for (const { name, command, args } of steps) {
    console.log(`\n— ${name}`);
    const from = performance.now();
    const { status } = spawnSync(command, args, { stdio: "inherit" });
    const seconds = ((performance.now() - from) / 1_000).toFixed(1);
    if (status !== 0) failures += 1;
    rows.push(`${status === 0 ? "ok  " : "FAIL"}  ${name.padEnd(42)} ${seconds.padStart(6)} s`);
  }
  console.log(`\n${rows.join("\n")}`);
  process.exitCode = failures === 0 ? 0 : 1;
}
