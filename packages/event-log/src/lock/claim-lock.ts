import { readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../error-code.ts";
import type { Attempt } from "../retry-while-busy.ts";
import type { FileLock } from "./file-lock.ts";
import { HolderFile, hasNoListener, removeFile } from "./holder-file.ts";
import { hasEnded } from "./process-identity.ts";

/**
 * A lock that consists of files in a folder. To lock a name, a process first creates its claim and then looks for other claims:
 * of two processes that do so at the same time, at least one sees the other's claim, and withdraws. Claims of dead holders are
 * ignored. The name of a claim is unique, so removing the claim of a dead holder cannot remove that of a living one.
 *
 * A claim is the holder file, renamed: renaming is atomic.
 */
export class ClaimLock implements FileLock {
  readonly #folder: string;
  /** Names of holders that a probe found dead. */
  readonly #deadHolders = new Set<string>();
  #holderFile: HolderFile | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  tryHold<T>(name: string, use: () => T): Attempt<T> {
    const holderFile = this.#claim(name);
    try {
      const otherClaims = this.#claims(name).filter((claim) => holderOf(claim) !== holderFile.name);
      const deadClaims = otherClaims.filter((claim) => this.#hasEnded(claim));
      for (const claim of deadClaims) removeFile(join(this.#folder, claim));
      return deadClaims.length < otherClaims.length ? undefined : { value: use() };
    } finally {
      this.#withdraw(holderFile);
    }
  }

  isFree(name: string): boolean {
    return this.#claims(name).every(
      (claim) => holderOf(claim) === this.#holderFile?.name || this.#hasEnded(claim),
    );
  }

  async probe(name: string): Promise<void> {
    for (const claim of this.#claims(name))
      if (await hasNoListener(this.#folder, claim)) this.#deadHolders.add(holderOf(claim));
  }

  close(): void {
    this.#holderFile?.remove();
    this.#holderFile = undefined;
  }

  /** Renames the own holder file to the claim on a name. If the file was deleted, creates a new one. */
  #claim(name: string): HolderFile {
    const holderFile = (this.#holderFile ??= new HolderFile(this.#folder));
    try {
      this.#move(holderFile, `${name}.${holderFile.name}`);
      return holderFile;
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
    }
    this.close();
    const next = (this.#holderFile = new HolderFile(this.#folder));
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
    const path = join(this.#folder, to);
    if (path !== holderFile.path) renameSync(holderFile.path, path);
    holderFile.path = path;
  }

  #claims(name: string): readonly string[] {
    try {
      return readdirSync(this.#folder).filter((file) => file.startsWith(`${name}.`));
    } catch (error) {
      if (errorCode(error) === "ENOENT") return [];
      throw error;
    }
  }

  #hasEnded(claim: string): boolean {
    const holder = holderOf(claim);
    return this.#deadHolders.has(holder) || hasEnded(holder);
  }
}

const holderOf = (claim: string): string => claim.slice(claim.lastIndexOf(".") + 1);
