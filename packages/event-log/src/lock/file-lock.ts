import { join } from "node:path";
import { ClaimLock, type FileLock } from "./claim-lock.ts";
import { ExclusiveOpenLock, exclusiveOpenFlags } from "./exclusive-open-lock.ts";
import { Holders } from "./holders.ts";
import { LinkLock } from "./link-lock.ts";

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
