import { spawnSync } from "node:child_process";

/** One thing that has to hold, and the command that says so. */
export interface Step {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

/** Runs every step, also after a failure, and tells at the end how each went. Exits with 1 when one failed. */
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
