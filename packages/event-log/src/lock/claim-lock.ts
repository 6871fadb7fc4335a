import { renameSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../error-code.ts";
import type { Attempt } from "../retry-while-busy.ts";

import { type HolderFile, removeFile } from "./holder-file.ts";
import { type Holders, holderOf } from "./holders.ts";

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

/**
 * A lock that consists of files in a folder. To lock a name, a process first creates its claim and then looks for other claims:
 * of two processes that do so at the same time, at least one sees the other's claim, and withdraws. Claims of dead holders are
 * ignored. The name of a claim is unique, so removing the claim of a dead holder cannot remove that of a living one.
 *
 * A claim is the holder file, renamed: renaming is atomic.
 */
export class ClaimLock implements FileLock {
  readonly #holders: Holders;

  constructor(holders: Holders) {
    this.#holders = holders;
  }

  tryHold<T>(name: string, use: () => T): Attempt<T> {
    const holderFile = this.#claim(name);
    try {
      const otherClaims = this.#claims(name).filter((claim) => holderOf(claim) !== holderFile.name);
      const deadClaims = otherClaims.filter((claim) => this.#holders.hasEnded(holderOf(claim)));
      for (const claim of deadClaims) removeFile(join(this.#holders.folder, claim));
      return deadClaims.length < otherClaims.length ? undefined : { value: use() };
    } finally {
      this.#withdraw(holderFile);
    }
  }

  isFree(name: string): boolean {
    return this.#claims(name).every((claim) => {
      const holder = holderOf(claim);
      return this.#holders.isOwn(holder) || this.#holders.hasEnded(holder);
    });
  }

  async probe(name: string): Promise<void> {
    for (const claim of this.#claims(name)) await this.#holders.probe(claim);
  }

  close(): void {
    this.#holders.close();
  }

  /** Renames the own holder file to the claim on a name. If the file was deleted, creates a new one. */
  #claim(name: string): HolderFile {
    const holderFile = this.#holders.own();
    try {
      this.#move(holderFile, `${name}.${holderFile.name}`);
      return holderFile;
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
    }
    const next = this.#holders.replaceOwn();
    this.#move(next, `${name}.${next.name}`);
    return next;
  }

  /** A claim that cannot be withdrawn stays until the next claim renames it; other processes wait meanwhile. */
  #withdraw(holderFile: HolderFile): void {
    try {
      this.#move(holderFile, holderFile.name);
    } catch {
      // The result of the operation under the lock is the one that counts.
    }
  }

  #move(holderFile: HolderFile, to: string): void {
    const path = join(this.#holders.folder, to);
    if (path !== holderFile.path) renameSync(holderFile.path, path);
    holderFile.path = path;
  }

  #claims(name: string): readonly string[] {
    return this.#holders.files().filter((file) => file.startsWith(`${name}.`));
  }
}
