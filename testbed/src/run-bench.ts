import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const folder = join(import.meta.dirname, "../../bench");

/** Runs `bench/NAME.ts` from the sources. Returns the lines that it prints; rejects if it fails. */
export async function runBench(name: string, args: readonly string[]): Promise<readonly string[]> {
  const options = ["--no-deprecation", "--conditions=@moora/source", join(folder, `${name}.ts`)];
  const { stdout } = await promisify(execFile)(process.execPath, [...options, ...args]);
  return stdout.trimEnd().split("\n");
}
