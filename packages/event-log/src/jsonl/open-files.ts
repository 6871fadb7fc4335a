import type { FileStat } from "./file-system.ts";
import type { Files } from "./files.ts";

/** A file that is open for writing, with its number and size when it was looked up. */
export interface OpenFile {
  readonly fd: number;
  readonly ino: bigint;
  readonly size: number;
}

interface KeptFile extends Pick<FileStat, "ino" | "dev"> {
  readonly fd: number;
}

/** The number of files that a log keeps open. Thousands of sessions must not exhaust the descriptors of the process. */
const maxKept = 64;

/** Windows does not let another process replace a file that is open here, and `remove` replaces files. */
const keepsOpen = process.platform !== "win32";

/**
 * The files of a log that stay open between appends, the most recently used ones. A file is looked up by its path at each
 * use: if another process has replaced it since, the one that has the path now is opened.
 */
export class OpenFiles {
  readonly #files: Files;
  /** By path, in the order of their last use. The number of an open file is not reused, so equal numbers mean the same file. */
  readonly #kept = new Map<string, KeptFile>();

  constructor(files: Files) {
    this.#files = files;
  }

  /**
   * Passes the file that has this path to `use`. Returns undefined when there is none. `check` is called before, and throws
   * for a file that must not be written.
   */
  use<T>(path: string, check: (stat: FileStat) => void, use: (file: OpenFile) => T): T | undefined {
    const stat = this.#files.statPath(path);
    if (stat === undefined) {
      this.close(path);
      return undefined;
    }
    check(stat);
    const { ino, dev } = stat;
    const size = Number(stat.size);
    const kept = this.#kept.get(path);
    if (kept !== undefined && kept.ino === ino && kept.dev === dev) {
      this.#kept.delete(path);
      this.#kept.set(path, kept);
      return use({ fd: kept.fd, ino, size });
    }
    this.close(path);
    if (!keepsOpen) return this.#files.withFile(path, "r+", (fd) => use({ fd, ino, size }));
    const opened = this.#open(path);
    return opened === undefined ? undefined : use(opened);
  }

  /** Closes the file that is kept for a path, if there is one. */
  close(path: string): void {
    const kept = this.#kept.get(path);
    if (kept === undefined) return;
    this.#kept.delete(path);
    this.#files.close(kept.fd);
  }

  closeAll(): void {
    for (const path of this.#kept.keys()) this.close(path);
  }

  #open(path: string): OpenFile | undefined {
    const fd = this.#files.openForWriting(path);
    if (fd === undefined) return undefined;
    try {
      const { ino, dev, size } = this.#files.stat(fd);
      this.#kept.set(path, { fd, ino, dev });
      if (this.#kept.size > maxKept) this.#closeOldest();
      return { fd, ino, size: Number(size) };
    } catch (error) {
      this.#files.close(fd);
      throw error;
    }
  }

  #closeOldest(): void {
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined) this.close(oldest);
  }
}
