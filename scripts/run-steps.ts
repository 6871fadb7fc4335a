import { spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";

/** A check: the command exits with 0 when it passes. */
export interface Step {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * Runs every step, also after a failure, and prints the result and the seconds of each at the end. Sets the exit code to 1 if
 * one failed. The steps of a lane run one after the other, lanes side by side; the output of a step beside others is printed
 * when it ends, and the lines of it that name a failure once more at the end.
 */
export async function runSteps(...lanes: readonly (readonly Step[])[]): Promise<void> {
  const together = lanes.length > 1;
  const results = await Promise.all(lanes.map((lane) => runLane(lane, together)));
  console.log(`\n${results.flatMap(({ rows }) => rows).join("\n")}`);
  for (const line of results.flatMap(({ failures }) => failures)) console.log(line);
  process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;
}

async function runLane(
  steps: readonly Step[],
  together: boolean,
): Promise<{ rows: string[]; failures: string[]; passed: boolean }> {
  const rows: string[] = [];
  const failures: string[] = [];
  let passed = true;
  for (const step of steps) {
    if (!together) console.log(`\n— ${step.name}`);
    const from = performance.now();
    const { code, output } = await run(step, together);
    const seconds = ((performance.now() - from) / 1_000).toFixed(1);
    if (together) console.log(`\n— ${step.name}\n${output}`);
    if (code !== 0) {
      passed = false;
      failures.push(...failuresIn(output));
    }
    rows.push(`${code === 0 ? "ok  " : "FAIL"}  ${step.name.padEnd(42)} ${seconds.padStart(6)} s`);
  }
  return { rows, failures, passed };
}

/** The first lines that name a failed test or an error, cut to the width of a terminal. */
function failuresIn(output: string): string[] {
  const lines = stripVTControlCharacters(output).split("\n");
  return lines
    .filter((line) => /^\s*(FAIL|×|⎯* Unhandled|\w*Error:|\s+at |.*: error TS)/.test(line))
    .slice(0, 12)
    .map((line) => line.slice(0, 200));
}

function run({ command, args }: Step, captured: boolean): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const child = spawn(command, args, { stdio: captured ? ["ignore", "pipe", "pipe"] : "inherit" });
    child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stderr?.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.once("error", (error) => {
      chunks.push(Buffer.from(error.message));
      resolve({ code: null, output: Buffer.concat(chunks).toString() });
    });
    child.once("close", (code) => {
      resolve({ code, output: Buffer.concat(chunks).toString() });
    });
  });
}
