import nodeFileSystem from "node:fs";
import { join } from "node:path";
import type { Try } from "../when-free.ts";
import { errorCode } from "../error-code.ts";
import type { FileLock } from "./file-lock.ts";

/** How a platform opens a file that nobody else has open in the same way, and that it never waits for. */
interface ExclusiveOpen {
  readonly hold: number;
  readonly look: number;
}

const { O_CREAT, O_RDONLY, O_RDWR, O_NONBLOCK } = nodeFileSystem.constants;
const bsd: ExclusiveOpen = { hold: O_RDWR | O_CREAT | O_NONBLOCK | 0x20, look: O_RDONLY | O_NONBLOCK | 0x10 };
/** UV_FS_O_EXLOCK, which libuv supports on macOS and Windows. */
const windows: ExclusiveOpen = { hold: O_RDWR | O_CREAT | 0x1000_0000, look: O_RDONLY | 0x1000_0000 };

/** O_EXLOCK and O_SHLOCK of the BSDs, and the exclusive mode of Windows. Linux has neither. */
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
 * Locks by opening a file in the exclusive mode of the operating system, which ends with the process. Sixteen files
 * serve all names.
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

  tryHold<T>(name: string, use: () => T): Try<T> {
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
      this.#fs.closeSync(this.#fs.openSync(this.#file(name), this.#flags.look));
      return true;
    } catch (error) {
      // Without a lock file nobody has written yet; one that may not be opened is nothing that can be waited for.
      return !busyCodes.has(errorCode(error));
    }
  }

  async examine(): Promise<void> {
    // The system ends the locks of dead processes by itself.
  }

  close(): void {
    // Nothing is open between two uses.
  }

  #open(name: string): number | undefined {
    try {
      return this.#fs.openSync(this.#file(name), this.#flags.hold, 0o600);
    } catch (error) {
      if (busyCodes.has(errorCode(error))) return undefined;
      if (errorCode(error) !== "ENOENT") throw error;
    }
    this.#fs.mkdirSync(this.#path, { recursive: true, mode: 0o700 });
    return this.#fs.openSync(this.#file(name), this.#flags.hold, 0o600);
  }

  #file(name: string): string {
    return join(this.#path, name.slice(-1));
  }
}
