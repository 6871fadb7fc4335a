import { join } from "node:path";
import { fileLock, lockFolder } from "../lock/file-lock.ts";
import type { FileLock } from "../lock/claim-lock.ts";
import { isPromise } from "../maybe-promise.ts";
import type { LogNotice, MaybePromise } from "../port.ts";
import { type Attempt, retryWhileBusy } from "../retry-while-busy.ts";
import { logClosed } from "../validation.ts";
import { leaseExtension, logExtension, snapshotExtension } from "./file-name.ts";
import { type Files, withLogErrors } from "./files.ts";
import { headerToLine } from "./header-line.ts";
import { OpenFiles } from "./open-files.ts";

/** A failed append that may have left bytes in a file: their offset, and the bytes. */
interface PendingTruncation {
  readonly offset: number;
  readonly bytes: Buffer;
}

/** The number of attempts between two probes of whether the lock holders are alive. */
const attemptsPerProbe = 8;

/** The state that the handles of one JSONL log share: its files, their locks, pending truncations and notices. */
export class JsonlDirectory {
  readonly path: string;
  readonly files: Files;
  readonly openFiles: OpenFiles;
  readonly #lock: FileLock;
  readonly #busyTimeoutMs: number;
  readonly #onNotice: (notice: LogNotice) => void;
  readonly #notices: LogNotice[] = [];
  readonly #pendingTruncations = new Map<string, PendingTruncation>();
  #isClosed = false;

  constructor(
    path: string,
    files: Files,
    { busyTimeoutMs, onNotice }: { busyTimeoutMs: number; onNotice: (notice: LogNotice) => void },
  ) {
    this.path = path;
    this.files = files;
    this.openFiles = new OpenFiles(files);
    this.#lock = fileLock(path);
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#onNotice = onNotice;
  }

  pathOf(name: string, extension: string = logExtension): string {
    return join(this.path, name + extension);
  }

  /** Runs an operation on a file of the log: converts file system errors to `LogWrite`, and sends notices at the end. */
  run<T>(what: string, path: string, operation: () => MaybePromise<T>): MaybePromise<T> {
    this.#checkOpen();
    try {
      const result = withLogErrors(what, path, operation);
      return isPromise(result) ? result.finally(() => this.#sendNotices()) : result;
    } finally {
      this.#sendNotices();
    }
  }

  /** Runs an operation that writes to the files of a name, while no other process does. */
  withLock<T>(name: string, use: () => T): MaybePromise<T> {
    return this.#retryWhileBusy(name, () => this.#lock.tryHold(name, use));
  }

  /**
   * Runs an operation that reads the files of a name, and repeats it if a process wrote to them meanwhile. Takes no lock and
   * writes nothing, so it works without write permission.
   */
  readConsistently<T>(name: string, use: () => Attempt<T>): MaybePromise<T> {
    return this.#retryWhileBusy(name, () => {
      if (!this.#lock.isFree(name)) return undefined;
      const found = use();
      return this.#lock.isFree(name) ? found : undefined;
    });
  }

  /** Replaces the file of a session with a tombstone, and removes those beside it. Needs the lock. */
  removeSession({ id, name, generation }: Readonly<Record<"id" | "name" | "generation", string>>): void {
    const path = this.pathOf(name);
    this.openFiles.close(path);
    this.files.replaceDurably(path, headerToLine({ id, generation, header: undefined }));
    this.files.remove(this.pathOf(name, leaseExtension));
    this.files.remove(this.pathOf(name, snapshotExtension));
  }

  /** Queues a notice until the end of the current operation. */
  notice(notice: LogNotice): void {
    this.#notices.push(notice);
  }

  /** Removes the bytes that a failed append left in a file: now if possible, else before the next write to the file. */
  truncateFailedAppend(generation: string, fd: number, truncation: PendingTruncation): void {
    this.#pendingTruncations.set(generation, truncation);
    try {
      this.applyTruncation(generation, fd);
    } catch {
      // The error of the append is the one that is thrown.
    }
  }

  /**
   * Needs the lock. Keeps the bytes if another process has overwritten them. Returns whether a truncation was pending, after
   * which the size of the file may be another.
   */
  applyTruncation(generation: string, fd: number): boolean {
    const truncation = this.#pendingTruncations.get(generation);
    if (truncation === undefined) return false;
    if (this.#isStillThere(fd, truncation)) this.files.truncate(fd, truncation.offset);
    this.#pendingTruncations.delete(generation);
    return true;
  }

  /** The length of a file without the bytes that a failed append of this process left at its end. */
  usableLength(generation: string, fd: number): number {
    const truncation = this.#pendingTruncations.get(generation);
    return truncation !== undefined && this.#isStillThere(fd, truncation)
      ? truncation.offset
      : this.files.size(fd);
  }

  close(): void {
    this.#isClosed = true;
    this.openFiles.closeAll();
    this.#lock.close();
  }

  #isStillThere(fd: number, { offset, bytes }: PendingTruncation): boolean {
    const found = this.files.bytes(fd, offset, offset + bytes.length + 1);
    return found.length > 0 && found.equals(bytes.subarray(0, found.length));
  }

  #retryWhileBusy<T>(name: string, tryOnce: () => Attempt<T>): MaybePromise<T> {
    let attempts = 0;
    const attempt = (): Attempt<T> => {
      this.#checkOpen();
      return tryOnce();
    };
    const beforeRetry = async (): Promise<void> => {
      if (attempts % attemptsPerProbe === 0) await this.#lock.probe(name);
      attempts += 1;
    };
    return retryWhileBusy(attempt, () => ({
      busyTimeoutMs: this.#busyTimeoutMs,
      what: this.pathOf(name),
      lock: join(this.path, lockFolder),
      beforeRetry,
    }));
  }

  #checkOpen(): void {
    if (this.#isClosed) throw logClosed();
  }

  #sendNotices(): void {
    for (const notice of this.#notices.splice(0)) this.#onNotice(notice);
  }
}
