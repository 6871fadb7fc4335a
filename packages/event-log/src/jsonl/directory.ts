import { join } from "node:path";
import { type FileLock, fileLock, lockFolder } from "../lock/file-lock.ts";
import { LogError } from "../log-error.ts";
import { isPromise } from "../maybe-promise.ts";
import type { LogNotice, MaybePromise } from "../port.ts";
import { type Try, whenFree } from "../when-free.ts";
import { logExtension } from "./file-name.ts";
import { type Files, withLogErrors } from "./files.ts";

/** A failed append whose bytes may still stand in a file: where they begin, and what they are. */
interface Debt {
  readonly offset: number;
  readonly bytes: Buffer;
}

/** How many tries pass between two looks at whether those in the way still live. */
const triesPerExamination = 8;

/** What the handles of one JSONL log share: its files, the locks beside them, and what is still to be done or said. */
export class JsonlDirectory {
  readonly path: string;
  readonly files: Files;
  readonly #lock: FileLock;
  readonly #busyTimeoutMs: number;
  readonly #onNotice: (notice: LogNotice) => void;
  readonly #notices: LogNotice[] = [];
  readonly #debts = new Map<string, Debt>();
  #isClosed = false;

  constructor(
    path: string,
    files: Files,
    { busyTimeoutMs, onNotice }: { busyTimeoutMs: number; onNotice: (notice: LogNotice) => void },
  ) {
    this.path = path;
    this.files = files;
    this.#lock = fileLock(path);
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#onNotice = onNotice;
  }

  pathOf(name: string, extension: string = logExtension): string {
    return join(this.path, name + extension);
  }

  /** Runs one operation on a file of the log: an error of the file system becomes `LogWrite`, and notices follow it. */
  run<T>(what: string, path: string, operation: () => MaybePromise<T>): MaybePromise<T> {
    this.#checkOpen(what);
    try {
      const result = withLogErrors(what, path, operation);
      return isPromise(result) ? result.finally(() => this.#sendNotices()) : result;
    } finally {
      this.#sendNotices();
    }
  }

  /** Runs what changes the files of a name, when no other process does. */
  withLock<T>(name: string, use: () => T): MaybePromise<T> {
    return this.#whenFree(name, () => this.#lock.tryHold(name, use));
  }

  /**
   * Runs what reads the files of a name while no process changes them: again if one did so meanwhile. Writes nothing, so
   * it works where this process may only read.
   */
  undisturbed<T>(name: string, use: () => Try<T>): MaybePromise<T> {
    return this.#whenFree(name, () => {
      if (!this.#lock.isFree(name)) return undefined;
      const found = use();
      return this.#lock.isFree(name) ? found : undefined;
    });
  }

  notice(notice: LogNotice): void {
    this.#notices.push(notice);
  }

  /** Takes back what a failed append left in a file, now if the disk lets it, else before the file is next written. */
  takeBack(life: string, fd: number, debt: Debt): void {
    this.#debts.set(life, debt);
    try {
      this.settleDebt(life, fd);
    } catch {
      // The append has failed already and says so itself.
    }
  }

  /** Needs the lock. Leaves alone what somebody else has written there since. */
  settleDebt(life: string, fd: number): void {
    const debt = this.#debts.get(life);
    if (debt === undefined) return;
    if (this.#stillStands(fd, debt)) this.files.truncate(fd, debt.offset);
    this.#debts.delete(life);
  }

  /** How much of a file counts: what a failed append of this process left behind does not. */
  limitOf(life: string, fd: number): number {
    const debt = this.#debts.get(life);
    return debt !== undefined && this.#stillStands(fd, debt) ? debt.offset : this.files.size(fd);
  }

  close(): void {
    this.#isClosed = true;
    this.#lock.close();
  }

  #stillStands(fd: number, { offset, bytes }: Debt): boolean {
    const left = this.files.bytes(fd, offset, offset + bytes.length + 1);
    return left.length > 0 && left.equals(bytes.subarray(0, left.length));
  }

  #whenFree<T>(name: string, tryOnce: () => Try<T>): MaybePromise<T> {
    let tries = 0;
    const checked = (): Try<T> => {
      this.#checkOpen("continue");
      return tryOnce();
    };
    return whenFree(checked, {
      busyTimeoutMs: this.#busyTimeoutMs,
      what: this.pathOf(name),
      lock: join(this.path, lockFolder),
      beforeRetry: async () => {
        if (tries % triesPerExamination === 0) await this.#lock.examine(name);
        tries += 1;
      },
    });
  }

  #checkOpen(what: string): void {
    if (this.#isClosed) throw new LogError("LogWrite", `The log could not ${what}: it is closed.`);
  }

  #sendNotices(): void {
    for (const notice of this.#notices.splice(0)) this.#onNotice(notice);
  }
}
