import { join } from "node:path";
import type { Try } from "../when-free.ts";
import { ClaimLock } from "./claim-lock.ts";
import { ExclusiveOpenLock, exclusiveOpenFlags } from "./exclusive-open-lock.ts";

/**
 * Keeps the writers of a directory apart, by the name of what they write: processes of one machine, threads of one
 * process, and containers that share the directory. A lock ends with its holder, however that ends.
 */
export interface FileLock {
  /** Runs `use` while no other process holds the name. Undefined if one does; then nothing was run. */
  tryHold<T>(name: string, use: () => T): Try<T>;
  /** Whether no other process holds the name now. Writes nothing. False where only `examine` can decide. */
  isFree(name: string): boolean;
  /** Finds out whether the holders in the way still live, which may take a moment. */
  examine(name: string): Promise<void>;
  close(): void;
}

/** The folder of the locks, beside what they lock. */
export const lockFolder = ".locks";

/** The lock of a directory, by the best means of this platform. Touches no file until it is used. */
export function fileLock(directory: string): FileLock {
  const path = join(directory, lockFolder);
  const flags = exclusiveOpenFlags[process.platform];
  return flags === undefined ? new ClaimLock(path) : new ExclusiveOpenLock(path, flags);
}
