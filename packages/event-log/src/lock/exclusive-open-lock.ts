import nodeFileSystem from "node:fs";
import { join } from "node:path";
import type { Attempt } from "../retry-while-busy.ts";
import { errorCode } from "../error-code.ts";
import type { FileLock } from "./claim-lock.ts";

/** The flags with which a platform opens a file as a lock, without waiting: for holding it, and for testing it. */
interface ExclusiveOpen {
  readonly exclusive: number;
  readonly shared: number;
}

const { O_CREAT, O_RDONLY, O_RDWR, O_NONBLOCK } = nodeFileSystem.constants;
const bsd: ExclusiveOpen = {
  exclusive: O_RDWR | O_CREAT | O_NONBLOCK | 0x20,
  shared: O_RDONLY | O_NONBLOCK | 0x10,
};
/** UV_FS_O_EXLOCK, which libuv supports on macOS and Windows. */
const windows: ExclusiveOpen = { exclusive: O_RDWR | O_CREAT | 0x1000_0000, shared: O_RDONLY | 0x1000_0000 };

/** O_EXLOCK and O_SHLOCK of the BSDs, and the exclusive mode of Windows. Linux has no equivalent. */
export const exclusiveOpenFlags: Readonly<Record<string, ExclusiveOpen>> = {
  darwin: bsd,
  freebsd: bsd,
  netbsd: bsd,
  openbsd: bsd,
  win32: windows,
};

type FileFunctions = Pick<typeof nodeFileSystem, "openSync" | "closeSync" | "mkdirSync">;

const busyCodes: ReadonlySet<unknown> = new Set(["EAGAIN", "EWOULDBLOCK", "EBUSY"]);

/**
 * A lock that opens a file in the exclusive mode of the operating system, which ends with the process. All names share 16 files.
 */
export class ExclusiveOpenLock implements FileLock {
  readonly #path: string;
  readonly #flags: ExclusiveOpen;
  readonly #fs: FileFunctions;

  constructor(path: string, flags: ExclusiveOpen, fs: FileFunctions = nodeFileSystem) {
    this.#path = path;
    this.#flags = flags;
    this.#fs = fs;
  }

  tryHold<T>(name: string, use: () => T): Attempt<T> {
    const fd = this.#open(name);
    if (fd === undefined) return undefined;
    try {
      return { value: use() };
    } finally {
      this.#fs.closeSync(fd);
    }
  }

  isFree(name: string): boolean {
    try {
      this.#fs.closeSync(this.#fs.openSync(this.#file(name), this.#flags.shared));
      return true;
    } catch (error) {
      // If there is no lock file, no process has written. If there is no permission to open it, waiting would not help.
      return !busyCodes.has(errorCode(error));
    }
  }

  async probe(): Promise<void> {
    // The operating system releases the locks of dead processes.
  }

  close(): void {
    // No file is open between two uses.
  }

  #open(name: string): number | undefined {
    try {
      return this.#fs.openSync(this.#file(name), this.#flags.exclusive, 0o600);
    } catch (error) {
      if (busyCodes.has(errorCode(error))) return undefined;
      if (errorCode(error) !== "ENOENT") throw error;
    }
    this.#fs.mkdirSync(this.#path, { recursive: true, mode: 0o700 });
    return this.#fs.openSync(this.#file(name), this.#flags.exclusive, 0o600);
  }

  #file(name: string): string {
    return join(this.#path, name.slice(-1));
  }
}
