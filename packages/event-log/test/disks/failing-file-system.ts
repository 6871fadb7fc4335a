import type { FileSystem } from "../../src/jsonl/file-system.ts";

/** The fault of a {@link failingFileSystem}. */
export interface FileFault {
  /** The number of the call that fails, from 1. */
  readonly call: number;
  /** The error code of the system, or `short`: a write writes half of its bytes. */
  readonly code: "EIO" | "ENOSPC" | "EACCES" | "EDQUOT" | "EROFS" | "short";
  /** Whether all later calls fail too, until `heal`. */
  readonly isSticky: boolean;
  /** The functions whose calls count. Default: all except `closeSync`. */
  readonly of?: readonly (keyof FileSystem)[];
}

/** The result of {@link failingFileSystem}. */
export interface FailingFileSystem {
  readonly fs: FileSystem;
  /** Returns the number of calls that were counted. */
  readonly calls: () => number;
  /** Ends the fault: later calls succeed. */
  readonly heal: () => void;
}

/** Wraps a file system so that one of its calls, or all from that call on, fail. */
export function failingFileSystem(base: FileSystem, fault: FileFault): FailingFileSystem {
  let calls = 0;
  let isHealed = false;
  const counts = (name: keyof FileSystem): boolean =>
    fault.of === undefined ? name !== "closeSync" : fault.of.includes(name);
  const isDue = (name: keyof FileSystem): boolean => {
    if (!counts(name)) return false;
    calls += 1;
    return !isHealed && (fault.isSticky ? calls >= fault.call : calls === fault.call);
  };
  const guarded =
    <Args extends readonly unknown[], Result>(name: keyof FileSystem, run: (...args: Args) => Result) =>
    (...args: Args): Result => {
      if (isDue(name) && fault.code !== "short") throw systemError(fault.code, name);
      return run(...args);
    };
  const fs: FileSystem = {
    openSync: guarded("openSync", (...args: Parameters<FileSystem["openSync"]>) => base.openSync(...args)),
    closeSync: guarded("closeSync", (fd: number) => base.closeSync(fd)),
    readSync: guarded("readSync", (...args: Parameters<FileSystem["readSync"]>) => base.readSync(...args)),
    writeSync(fd, bytes, offset, length, position) {
      if (!isDue("writeSync")) return base.writeSync(fd, bytes, offset, length, position);
      // A full disk writes part of the bytes before it fails.
      const written = base.writeSync(fd, bytes, offset, Math.max(1, length >> 1), position);
      if (fault.code === "short") return written;
      throw systemError(fault.code, "writeSync");
    },
    fsyncSync: guarded("fsyncSync", (fd: number) => base.fsyncSync(fd)),
    fdatasyncSync: guarded("fdatasyncSync", (fd: number) => base.fdatasyncSync(fd)),
    fstatSync: guarded("fstatSync", (fd: number) => base.fstatSync(fd)),
    fchmodSync: guarded("fchmodSync", (fd: number, mode: number) => base.fchmodSync(fd, mode)),
    ftruncateSync: guarded("ftruncateSync", (fd: number, length: number) => base.ftruncateSync(fd, length)),
    renameSync: guarded("renameSync", (from: string, to: string) => base.renameSync(from, to)),
    unlinkSync: guarded("unlinkSync", (path: string) => base.unlinkSync(path)),
    mkdirSync: guarded("mkdirSync", (...args: Parameters<FileSystem["mkdirSync"]>) =>
      base.mkdirSync(...args),
    ),
    readdirSync: guarded("readdirSync", (path: string) => base.readdirSync(path)),
  };
  return { fs, calls: () => calls, heal: () => void (isHealed = true) };
}

/** Creates an error like those of `node:fs`. */
export const systemError = (code: string, call: string): Error =>
  Object.assign(new Error(`${code}: injected by a test, ${call}`), { code, syscall: call });
