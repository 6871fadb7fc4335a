import { join } from "node:path";
import { LogError } from "../log-error.ts";
import type { LogNotice } from "../port.ts";
import { FileLocks } from "./file-lock.ts";
import { logExtension } from "./file-name.ts";
import { type Files, withLogErrors } from "./files.ts";

/** A failed append whose bytes may still stand in a file: where they begin, and what they are. */
interface Debt {
  readonly offset: number;
  readonly bytes: Buffer;
}

/** What the handles of one JSONL log share: its files, the locks beside them, and what is still to be done or said. */
export class JsonlDirectory {
  readonly path: string;
  readonly files: Files;
  readonly #locks: FileLocks;
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
    this.#locks = new FileLocks(path, busyTimeoutMs);
    this.#onNotice = onNotice;
  }

  pathOf(name: string, extension: string = logExtension): string {
    return join(this.path, name + extension);
  }

  /** Runs one operation on the log: the error of a file system leaves it as `LogWrite`, and notices after it. */
  run<T>(what: string, operation: () => T): T {
    if (this.#isClosed) throw new LogError("LogWrite", `${what} failed: the log is closed`);
    try {
      return withLogErrors(what, operation);
    } finally {
      for (const notice of this.#notices.splice(0)) this.#onNotice(notice);
    }
  }

  withLock<T>(name: string, use: () => T): T {
    return this.#locks.withLock(name, use);
  }

  notice(notice: LogNotice): void {
    this.#notices.push(notice);
  }

  /** Takes back what a failed append left in a file, now if the disk lets it, else before the file is next read. */
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
    const { offset, bytes } = debt;
    const left = this.files.bytes(fd, offset, offset + bytes.length + 1);
    if (left.length > 0 && left.equals(bytes.subarray(0, left.length))) this.files.truncate(fd, offset);
    this.#debts.delete(life);
  }

  close(): void {
    this.#isClosed = true;
    this.#locks.close();
  }
}
