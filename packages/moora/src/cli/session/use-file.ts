import { CliFailure } from "../cli-failure.ts";
import { exitCodes } from "../cli-host.ts";

const fileProblems: Readonly<Record<string, string>> = {
  EEXIST: "exists already",
  ENOENT: "does not exist",
  EISDIR: "is a folder",
  EACCES: "cannot be opened: permission denied",
  ENOSPC: "cannot be written: no space left on the disk",
};

/** Runs `work`, which reads or writes the file. Throws `CliFailure` when that fails. */
export function useFile<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && typeof error.code === "string")) throw error;
    throw new CliFailure(
      error.code === "ENOENT" ? exitCodes.missing : exitCodes.refused,
      `The file ${file} ${fileProblems[error.code] ?? `cannot be used: ${error.code}`}.`,
    );
  }
}
