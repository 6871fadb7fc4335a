import { dirname } from "node:path";
import { errorCode } from "../error-code.ts";
import { LogError } from "../log-error.ts";
import { mapError } from "../maybe-promise.ts";
import type { MaybePromise } from "../port.ts";
import type { FileSystem } from "./file-system.ts";

/** `full`: on the disk before a call returns. `relaxed`: with the operating system, which a power cut may outrun. */
export type Durability = "full" | "relaxed";

/** What a log creates is for its owner only. */
const ownFileMode = 0o600;
const ownFolderMode = 0o700;

/** What the system says of a place that this process may read and not write. */
const readOnlyCodes: ReadonlySet<unknown> = new Set(["EACCES", "EPERM", "EROFS"]);

/** Whole reads and writes over a file system, and what `durability` promises about them. */
export class Files {
  readonly isDurable: boolean;
  readonly #fs: FileSystem;

  constructor(fs: FileSystem, durability: Durability) {
    this.#fs = fs;
    this.isDurable = durability === "full";
  }

  /** What `use` answers with the open file; undefined when there is no such file. */
  withFile<T>(path: string, flags: "r" | "r+" | "w", use: (fd: number) => T): T | undefined {
    let fd: number;
    try {
      fd = this.#fs.openSync(path, flags, ownFileMode);
    } catch (error) {
      if (errorCode(error) === "ENOENT" && flags !== "w") return undefined;
      throw error;
    }
    try {
      return use(fd);
    } finally {
      this.#close(fd);
    }
  }

  size(fd: number): number {
    return this.#fs.fstatSync(fd).size;
  }

  /** The bytes from `start` up to `end`, fewer when the file ends before. */
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

  /** Writes all the bytes at a position and makes them durable. */
  write(fd: number, bytes: Uint8Array, position: number): void {
    this.#writeAll(fd, bytes, position);
    this.sync(fd);
  }

  truncate(fd: number, length: number): void {
    this.#fs.ftruncateSync(fd, length);
    this.sync(fd);
  }

  sync(fd: number): void {
    if (this.isDurable) this.#fs.fsyncSync(fd);
  }

  /** Makes durable what other processes wrote to a file. A file that may only be read is left to those who write it. */
  syncFile(path: string): void {
    if (!this.isDurable) return;
    try {
      this.withFile(path, "r+", (fd) => this.#fs.fsyncSync(fd));
    } catch (error) {
      if (!readOnlyCodes.has(errorCode(error))) throw error;
    }
  }

  /** Whether a file can be reached by another name too, as a hard link, or if this name is a symbolic link. */
  hasOtherNames(path: string, fd: number): boolean {
    return this.#fs.fstatSync(fd).nlink > 1 || this.#fs.lstatSync(path).isSymbolicLink();
  }

  /** Puts a file in place of what was there, with its permissions: a crash leaves the old one or the new one. */
  replace(path: string, text: string): void {
    this.#replace(path, text, this.isDurable);
  }

  /** The same, durable even in a relaxed log: what is created or removed stays so. */
  replaceDurably(path: string, text: string): void {
    this.#replace(path, text, true);
  }

  remove(path: string): void {
    try {
      this.#fs.unlinkSync(path);
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
    }
  }

  /** The names in a directory; none when it is not there. */
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
    for (let made = directory; made.length >= first.length; made = dirname(made)) {
      this.#syncDirectory(dirname(made));
    }
  }

  /** What was written has been synced before, if it had to be: a close that fails takes nothing away. */
  #close(fd: number): void {
    try {
      this.#fs.closeSync(fd);
    } catch (error) {
      if (typeof errorCode(error) !== "string") throw error;
    }
  }

  #replace(path: string, text: string, isDurable: boolean): void {
    const temporary = `${path}.new`;
    const mode = this.withFile(path, "r", (fd) => this.#fs.fstatSync(fd).mode & 0o777) ?? ownFileMode;
    this.withFile(temporary, "w", (fd) => {
      if ((this.#fs.fstatSync(fd).mode & 0o777) !== mode) this.#fs.fchmodSync(fd, mode);
      this.#writeAll(fd, Buffer.from(text), 0);
      if (isDurable) this.#fs.fsyncSync(fd);
    });
    this.#fs.renameSync(temporary, path);
    if (isDurable) this.#syncDirectory(dirname(path));
  }

  #writeAll(fd: number, bytes: Uint8Array, position: number): void {
    let length = 0;
    while (length < bytes.length) {
      const written = this.#fs.writeSync(fd, bytes, length, bytes.length - length, position + length);
      if (written === 0) throw new LogError("LogWrite", "the file system wrote nothing and gave no reason");
      length += written;
    }
  }

  /** A new name is durable when its directory is. Windows has no such call and needs none. */
  #syncDirectory(directory: string): void {
    if (process.platform === "win32") return;
    this.withFile(directory, "r", (fd) => this.#fs.fsyncSync(fd));
  }
}

/** Runs an operation on a file; what the file system refuses becomes `LogWrite`, with the path. */
export const withLogErrors = <T>(
  what: string,
  path: string,
  operation: () => MaybePromise<T>,
): MaybePromise<T> => mapError(operation, (error) => logFailure(what, path, error));

function logFailure(what: string, path: string, error: unknown): unknown {
  if (error instanceof LogError || typeof errorCode(error) !== "string") return error;
  const reason = error instanceof Error ? error.message : "";
  const place = reason.includes(path) ? "" : ` (${path})`;
  return new LogError("LogWrite", `The log could not ${what}: ${reason}${place}`, { cause: error });
}
