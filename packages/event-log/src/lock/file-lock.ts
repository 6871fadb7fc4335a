import { join } from "node:path";
import type { Attempt } from "../retry-while-busy.ts";
import { ClaimLock } from "./claim-lock.ts";
import { ExclusiveOpenLock, exclusiveOpenFlags } from "./exclusive-open-lock.ts";
import { Holders } from "./holders.ts";
import { LinkLock } from "./link-lock.ts";

/**
 * Mutual exclusion for the writers of a directory, by the name that they write: processes of one machine, threads of one
 * process, and containers that share the directory. A lock ends when its holder ends, for whatever reason.
 */
export interface FileLock {
  /** Runs `use` while holding the name. Returns undefined, without running it, if another process holds the name. */
  tryHold<T>(name: string, use: () => T): Attempt<T>;
  /** Whether no other process holds the name now. Writes nothing. False if only `probe` can decide. */
  isFree(name: string): boolean;
  /** Finds out asynchronously whether the other holders of the name are alive, for the next call. */
  probe(name: string): Promise<void>;
  close(): void;
}

/** The folder of the locks, within the directory that they lock. */
export const lockFolder = ".locks";

/** Creates the lock of a directory for this platform. Accesses no file before it is used. */
export function fileLock(directory: string): FileLock {
  const path = join(directory, lockFolder);
  const flags = exclusiveOpenFlags[process.platform];
  if (flags !== undefined) return new ExclusiveOpenLock(path, flags);
  const holders = new Holders(path);
  // Android refuses hard links as if their permissions were missing.
  return process.platform === "android" ? new ClaimLock(holders) : new LinkLock(holders);
}
