import { readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../error-code.ts";
import type { Try } from "../when-free.ts";
import type { FileLock } from "./file-lock.ts";
import { HolderSign, isDeserted, removeFile } from "./holder-sign.ts";
import { hasEnded } from "./process-identity.ts";

/**
 * A lock made of names in a folder. To hold a name, a process first puts its claim there and then looks for other claims:
 * of two that do so at the same time, at least one sees the other, and steps back. The claim of a holder that has ended
 * counts for nothing. Claims have names of their own, so that removing a dead one can never remove a living one.
 *
 * A claim is the sign of life of its holder, renamed; so it appears and disappears as a whole.
 */
export class ClaimLock implements FileLock {
  readonly #folder: string;
  /** Names of holders that were found to have ended. */
  readonly #ended = new Set<string>();
  #sign: HolderSign | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  tryHold<T>(name: string, use: () => T): Try<T> {
    const sign = this.#claim(name);
    try {
      const others = this.#claims(name).filter((claim) => holderOf(claim) !== sign.name);
      const ended = others.filter((claim) => this.#hasEnded(claim));
      for (const claim of ended) removeFile(join(this.#folder, claim));
      return ended.length < others.length ? undefined : { value: use() };
    } finally {
      this.#withdraw(sign);
    }
  }

  isFree(name: string): boolean {
    return this.#claims(name).every((claim) => holderOf(claim) === this.#sign?.name || this.#hasEnded(claim));
  }

  async examine(name: string): Promise<void> {
    for (const claim of this.#claims(name)) {
      if (await isDeserted(this.#folder, claim)) this.#ended.add(holderOf(claim));
    }
  }

  close(): void {
    this.#sign?.remove();
    this.#sign = undefined;
  }

  /** Makes the own sign the claim on a name. If the sign is gone, a new one is put up. */
  #claim(name: string): HolderSign {
    const sign = (this.#sign ??= new HolderSign(this.#folder));
    try {
      this.#move(sign, `${name}.${sign.name}`);
      return sign;
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
    }
    this.close();
    const next = (this.#sign = new HolderSign(this.#folder));
    this.#move(next, `${name}.${next.name}`);
    return next;
  }

  /** What cannot be withdrawn stays until the next claim moves it: others wait meanwhile. */
  #withdraw(sign: HolderSign): void {
    try {
      this.#move(sign, sign.name);
    } catch {
      // The outcome of what was done under the lock counts, not this.
    }
  }

  #move(sign: HolderSign, to: string): void {
    const path = join(this.#folder, to);
    if (path !== sign.path) renameSync(sign.path, path);
    sign.path = path;
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
    return this.#ended.has(holder) || hasEnded(holder);
  }
}

const holderOf = (claim: string): string => claim.slice(claim.lastIndexOf(".") + 1);
