import { type BigIntStats, linkSync, lstatSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../error-code.ts";
import type { Attempt } from "../retry-while-busy.ts";
import { ClaimLock, type FileLock } from "./claim-lock.ts";
import { hasNoListener, removeFile } from "./holder-file.ts";
import { type Holders, holderOf } from "./holders.ts";

/**
 * The state of a link: there is none; it is the own one, which could not be removed; its holder has ended; or its holder may
 * be alive.
 */
type LinkState = "free" | "own" | "dead" | "held";

/** The error codes of file systems that have no hard links. On one file system, all processes get the same. */
const unsupportedCodes: ReadonlySet<unknown> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

const linkPrefix = "lock.";

/**
 * A lock that is a hard link. To lock a name, a process links its holder file to a name that all processes use; creating the
 * link fails while it exists. A link whose holder has ended is removed under a claim, so that one process at a time removes
 * it, and only after it has found it dead. The link of a living holder never replaces it in between, because a link can only
 * be created when there is none. On file systems without hard links, claims lock the names.
 */
export class LinkLock implements FileLock {
  readonly #holders: Holders;
  readonly #claims: ClaimLock;
  /** Links without a holder file that a probe found dead, by the identity of their file. */
  readonly #deadOrphans = new Set<string>();

  constructor(holders: Holders) {
    this.#holders = holders;
    this.#claims = new ClaimLock(holders);
  }

  tryHold<T>(name: string, use: () => T): Attempt<T> {
    const link = this.#linkOf(name);
    try {
      if (!this.#link(link) && !this.#takeOver(name, link)) return undefined;
    } catch (error) {
      if (unsupportedCodes.has(errorCode(error))) return this.#claims.tryHold(name, use);
      throw error;
    }
    try {
      return { value: use() };
    } finally {
      this.#unlink(link);
    }
  }

  isFree(name: string): boolean {
    const link = this.#linkOf(name);
    return this.#stateOf(link) !== "held" && this.#claims.isFree(name);
  }

  async probe(name: string): Promise<void> {
    await this.#claims.probe(name);
    const stat = statOf(this.#linkOf(name));
    if (stat === undefined) return;
    const file = this.#holderFileOf(stat);
    if (file !== undefined) return this.#holders.probe(file);
    const isDead = await hasNoListener(this.#holders.folder, linkPrefix + name);
    if (isDead) this.#deadOrphans.add(identityOf(stat));
  }

  close(): void {
    this.#holders.close();
  }

  /** The path of the link that locks a name. Locks by links are not used on Windows. */
  #linkOf(name: string): string {
    return `${this.#holders.folder}/${linkPrefix}${name}`;
  }

  /** Creates the link. Returns false if it exists. If the own holder file was deleted, creates another. */
  #link(link: string): boolean {
    try {
      return createLink(this.#holders.own().path, link);
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
    }
    return createLink(this.#holders.replaceOwn().path, link);
  }

  /** Takes a link that exists, unless its holder may be alive. */
  #takeOver(name: string, link: string): boolean {
    const state = this.#stateOf(link);
    if (state === "own") return true;
    if (state === "held") return false;
    if (state === "dead") this.#claims.tryHold(name, () => this.#removeDead(link));
    return this.#link(link);
  }

  #removeDead(link: string): void {
    if (this.#stateOf(link) === "dead") removeFile(link);
  }

  /** A link that cannot be removed stays, and is the own one at the next use; other processes wait meanwhile. */
  #unlink(link: string): void {
    try {
      unlinkSync(link);
    } catch {
      // The result of the operation under the lock is the one that counts.
    }
  }

  #stateOf(link: string): LinkState {
    const stat = statOf(link);
    if (stat === undefined) return "free";
    const file = this.#holderFileOf(stat);
    if (file === undefined) return this.#isDeadOrphan(stat) ? "dead" : "held";
    const holder = holderOf(file);
    if (this.#holders.isOwn(holder)) return "own";
    return this.#holders.hasEnded(holder) ? "dead" : "held";
  }

  /** The name of the holder file that a link points to; undefined if it was deleted. */
  #holderFileOf({ ino, dev }: BigIntStats): string | undefined {
    return this.#holders.files().find((file) => {
      if (file.startsWith(linkPrefix)) return false;
      const stat = statOf(join(this.#holders.folder, file));
      return stat?.ino === ino && stat.dev === dev;
    });
  }

  /** Whether a link has no holder file, and was probed or cannot be. A file with other names is about to be renamed. */
  #isDeadOrphan(stat: BigIntStats): boolean {
    return stat.nlink === 1n && (!stat.isSocket() || this.#deadOrphans.has(identityOf(stat)));
  }
}

function createLink(holderFile: string, link: string): boolean {
  try {
    linkSync(holderFile, link);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

const statOf = (path: string): BigIntStats | undefined =>
  lstatSync(path, { throwIfNoEntry: false, bigint: true });

/** The number of a file may be used again after the file was deleted, but not with the same time of its last change. */
const identityOf = ({ ino, dev, ctimeNs }: BigIntStats): string => `${dev}/${ino}/${ctimeNs}`;
