import { existsSync, statSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes } from "../cli-host.ts";

const fileProblems: Readonly<Record<string, string>> = {
  EEXIST: "exists already",
  ENOENT: "does not exist",
  EISDIR: "is a folder",
  EACCES: "cannot be opened: permission denied",
  ENOSPC: "cannot be written: no space left on the disk",
};

/** Throws `CliFailure` unless the folder exists in which a file is to be written. */
export function checkFolderOf(file: string, cwd: string): void {
  const folder = dirname(resolve(cwd, file));
  if (existsSync(folder)) return;
  throw new CliFailure(exitCodes.missing, `The folder ${folder} of ${file} does not exist. Create it first.`);
}

/** Writes a new file, or to a device such as `/dev/stdout`. Throws `CliFailure` for a file that exists. */
export function writeNewFile(file: string, cwd: string, text: string): void {
  checkFolderOf(file, cwd);
  const path = resolve(cwd, file);
  const isNew = !existsSync(path) || statSync(path).isFile();
  useFile(file, () => writeFileSync(path, text, { flag: isNew ? "wx" : "w" }));
}

/** Runs `work`, which reads or writes the file. Throws `CliFailure` when that fails. */
export function useFile<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    const problem = fileProblem(error);
    if (problem === undefined) throw error;
    const isMissing = problem === fileProblems["ENOENT"];
    throw new CliFailure(isMissing ? exitCodes.missing : exitCodes.refused, `The file ${file} ${problem}.`);
  }
}

/** What is wrong with a file, such as "does not exist"; undefined for an error that is not one of the file system. */
export function fileProblem(error: unknown): string | undefined {
  const code = codeOf(error);
  return code === undefined ? undefined : (fileProblems[code] ?? `cannot be used: ${code}`);
}

/** The code of an error of the file system, such as ENOENT; undefined for another error. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
