import { dirname } from "node:path";
import { errorCode } from "../error-code.ts";
import { LogError } from "../log-error.ts";
import type { FileSystem } from "./file-system.ts";

/**
 * `full`: data is on the disk before a call returns. `relaxed`: the operating system has it; a power cut may lose the last
 * appends.
 */
export type Durability = "full" | "relaxed";

/** Only the owner may access files and folders that a log creates. */
const ownFileMode = 0o600;
const ownFolderMode = 0o700;
const permissions = 0o777;

/** The error codes for files and folders that this process may read but not write. */
export const readOnlyCodes: ReadonlySet<unknown> = new Set(["EACCES", "EPERM", "EROFS"]);

/** Complete reads and writes over a file system, with the syncs that `durability` requires. */
export class Files {
  readonly isDurable: boolean;
  readonly #fs: FileSystem;

  constructor(fs: FileSystem, durability: Durability) {
    this.#fs = fs;
    this.isDurable = durability === "full";
  }

  /** Opens a file, calls `use` and closes it. Returns the result of `use`; undefined when the file does not exist. */
  withFile<T>(path: string, flags: "r" | "r+" | "w", use: (fd: number) => T): T | undefined {
    const fd = this.open(path, flags);
    if (fd === undefined) return undefined;
    try {
      return use(fd);
    } finally {
      this.close(fd);
    }
  }

  /** Opens a file; undefined when it does not exist. */
  open(path: string, flags: "r" | "r+" | "w"): number | undefined {
    try {
      return this.#fs.openSync(path, flags, ownFileMode);
    } catch (error) {
      if (errorCode(error) === "ENOENT" && flags !== "w") return undefined;
      throw error;
    }
  }

  /** Ignores file system errors: data that must be durable has been synced before the close. */
  close(fd: number): void {
    try {
      this.#fs.closeSync(fd);
    } catch (error) {
      if (typeof errorCode(error) !== "string") throw error;
    }
  }

  /** All bytes of a file; undefined when it does not exist. */
  read(path: string): Buffer | undefined {
    return this.withFile(path, "r", (fd) => this.bytes(fd, 0, this.#fs.fstatSync(fd).size));
  }

  /** The bytes from `start` up to `end`; fewer when the file ends before `end`. */
  bytes(fd: number, start: number, end: number): Buffer {
    const bytes = Buffer.allocUnsafe(Math.max(0, end - start));
    let length = 0;
    while (length < bytes.length) {
      const read = this.#fs.readSync(fd, bytes, length, bytes.length - length, start + length);
      if (read === 0) break;
      length += read;
    }
    return bytes.subarray(0, length);
  }

  /** Writes all bytes at a position and syncs them, and the size of the file. */
  write(fd: number, bytes: Uint8Array, position: number): void {
    this.#writeAll(fd, bytes, position);
    if (this.isDurable) this.#fs.fdatasyncSync(fd);
  }

  truncate(fd: number, length: number): void {
    this.#fs.ftruncateSync(fd, length);
    if (this.isDurable) this.#fs.fsyncSync(fd);
  }

  /** Syncs what a process before this one wrote to a file. Does nothing for a file without write permission. */
  syncFile(path: string): void {
    if (!this.isDurable) return;
    try {
      this.withFile(path, "r+", (fd) => this.#fs.fsyncSync(fd));
    } catch (error) {
      if (!readOnlyCodes.has(errorCode(error))) throw error;
    }
  }

  /**
   * Replaces a file atomically and keeps its permissions: a crash leaves the old file or the new one. A creation is synced in a
   * relaxed log, too.
   */
  replace(path: string, content: string | Uint8Array, isDurable: boolean = this.isDurable): void {
    const temporary = `${path}.new`;
    const mode = this.withFile(path, "r", (fd) => this.#mode(fd)) ?? ownFileMode;
    this.withFile(temporary, "w", (fd) => {
      if (this.#mode(fd) !== mode) this.#fs.fchmodSync(fd, mode);
      this.#writeAll(fd, typeof content === "string" ? Buffer.from(content) : content, 0);
      if (isDurable) this.#fs.fsyncSync(fd);
    });
    this.#fs.renameSync(temporary, path);
    if (isDurable) this.#syncDirectory(dirname(path));
  }

  /** Removes a file for good; does nothing if it does not exist. */
  remove(path: string): void {
    try {
      this.#fs.unlinkSync(path);
    } catch (error) {
      if (errorCode(error) === "ENOENT") return;
      throw error;
    }
    this.#syncDirectory(dirname(path));
  }

  /** The names in a directory; an empty list when it does not exist. */
  names(directory: string): readonly string[] {
    try {
      return this.#fs.readdirSync(directory);
    } catch (error) {
      if (errorCode(error) === "ENOENT") return [];
      throw error;
    }
  }

  makeDirectory(directory: string): void {
    const first = this.#fs.mkdirSync(directory, { recursive: true, mode: ownFolderMode });
    if (first === undefined) return;
    for (let made = directory; made.length >= first.length; made = dirname(made))
      this.#syncDirectory(dirname(made));
  }

  #mode(fd: number): number {
    return this.#fs.fstatSync(fd).mode & permissions;
  }

  #writeAll(fd: number, bytes: Uint8Array, position: number): void {
    let length = 0;
    while (length < bytes.length) {
      const written = this.#fs.writeSync(fd, bytes, length, bytes.length - length, position + length);
      if (written === 0) {
        throw new LogError(
          "LogWrite",
          "The file system wrote 0 bytes and reported no error. Check the disk.",
        );
      }
      length += written;
    }
  }

  /** A new name is durable once its directory is synced. Windows cannot sync directories and does not need it. */
  #syncDirectory(directory: string): void {
    if (process.platform === "win32") return;
    this.withFile(directory, "r", (fd) => this.#fs.fsyncSync(fd));
  }
}

/** The damage of a file, with its path and the line: line 1 is the header, and each record is one line. */
export const damageInFile = (path: string, { code, message, seq = 0, cause }: LogError): LogError =>
  new LogError(code, message.includes(path) ? message : `${message} See line ${seq + 1} of ${path}.`, {
    seq,
    ...(cause === undefined ? {} : { cause }),
  });

/** The error to throw for one of an operation on a file: `LogWrite` for one of the file system; damage has the path. */
export function logFailure(what: string, path: string, error: unknown): unknown {
  if (error instanceof LogError) return error.code === "LogCorrupt" ? damageInFile(path, error) : error;
  if (typeof errorCode(error) !== "string") return error;
  const reason = error instanceof Error ? error.message : "";
  const location = reason.includes(path) ? "" : ` (${path})`;
  return new LogError("LogWrite", `The log could not ${what}: ${reason}${location}`, { cause: error });
}
