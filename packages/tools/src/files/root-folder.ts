import { constants, realpathSync, statSync, type BigIntStats } from "node:fs";
import { lstat, open, readlink, realpath, type FileHandle } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { Refused } from "../refused.ts";
import { ExcludedPaths, pathBelow } from "./excluded-paths.ts";

/** The expected kind of a path. */
export type PathKind = "file" | "folder";

/**
 * Access to one folder, without anything above it and without what is excluded. A path is checked four times: as text, by its real path, by its kind
 * before it is opened, and by the location of the open file. Nothing is read before the last check.
 */
export class RootFolder {
  /** The real path. */
  readonly path: string;
  readonly #excluded: ExcludedPaths;

  /** Throws if the folder does not exist, or is excluded itself. */
  constructor(path: string, exclude: readonly string[] = []) {
    this.path = realpathSync.native(path);
    if (!statSync(this.path).isDirectory()) throw new TypeError(`${path} is not a folder.`);
    this.#excluded = new ExcludedPaths(this.path, exclude);
    if (this.#excluded.has(this.path)) throw new TypeError(`${path} is excluded, and cannot be the root.`);
  }

  /** Whether a path inside the root, by its real names or by those of links, must not be read or listed. */
  excludes(real: string): boolean {
    return this.#excluded.hasInRoot(real);
  }

  /** An open file or folder. Rejects with `Refused`. The caller closes it. */
  async open(path: string, kind: PathKind): Promise<FileHandle> {
    return await this.openReal(path, await this.realPathOf(path), kind);
  }

  /** The real path of a path inside the root. Rejects with `Refused` for one that leads out. */
  async realPathOf(path: string): Promise<string> {
    const candidate = join(this.path, ...segmentsOf(path));
    let real: string;
    try {
      real = await realpath(candidate);
    } catch (error) {
      throw await this.#realPathFailure(path, candidate, error);
    }
    this.#excluded.refresh();
    // A pattern may match a link, which leads to a file with another name.
    if (this.excludes(candidate)) throw excluded(path);
    this.#check(path, real);
    return real;
  }

  /** Opens a real path that was checked before, and checks it again: it may have been replaced since. */
  async openReal(path: string, real: string, kind: PathKind): Promise<FileHandle> {
    const expected = await refuseErrors(path, lstat(real, { bigint: true }));
    checkKind(path, expected, kind);
    const handle = await refuseErrors(path, open(real, openFlags(kind)));
    try {
      const opened = await handle.stat({ bigint: true });
      checkKind(path, opened, kind);
      const isSame = opened.dev === expected.dev && opened.ino === expected.ino;
      if (!isSame) throw outside(path);
      this.#check(path, await realPathOfOpened(handle, real));
      if (this.#excluded.isSameFile(opened)) throw excluded(path);
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Throws `Refused` for a real path that is outside or excluded. */
  #check(path: string, real: string): void {
    if (!this.#contains(real)) throw outside(path);
    if (this.excludes(real)) throw excluded(path);
  }

  #contains(real: string): boolean {
    return pathBelow(real, this.path) !== undefined;
  }

  /** A missing path must not reveal what exists outside. */
  async #realPathFailure(path: string, candidate: string, error: unknown): Promise<Refused> {
    if (codeOf(error) !== "ENOENT") return failure(path, error);
    for (let at = candidate; at.length > this.path.length; at = dirname(at)) {
      const found = await lstat(at).catch(() => undefined);
      if (found === undefined) continue;
      const real = await realpath(at).catch(() => undefined);
      if (real === undefined || !this.#contains(real)) return outside(path);
      break;
    }
    return new Refused("missing", `"${shown(path)}" does not exist.`);
  }
}

/**
 * The names of a path relative to the root, without "." and "..": "a/../b" is "b", also where "a" is a link. Throws `Refused` for a
 * path that leads out. Nothing is decoded: "%2e" is a name like any other.
 */
export function segmentsOf(path: string): readonly string[] {
  if (path.includes("\0")) throw outside(path);
  if (/^[/\\]/.test(path) || (sep === "\\" && path.includes(":")))
    throw new Refused("outside", `"${shown(path)}" is not relative: paths start at the root folder.`);
  const names: string[] = [];
  for (const segment of path.split(sep === "\\" ? /[/\\]/ : "/")) {
    if (segment !== ".." && segment !== "" && segment !== ".") names.push(segment);
    else if (segment === ".." && names.pop() === undefined) throw outside(path);
  }
  return names;
}

/** No link is followed, and opening a pipe does not block. */
const openFlags = (kind: PathKind): number =>
  constants.O_RDONLY |
  (constants.O_NOFOLLOW ?? 0) |
  (constants.O_NONBLOCK ?? 0) |
  (kind === "folder" ? (constants.O_DIRECTORY ?? 0) : 0);

function checkKind(path: string, stats: BigIntStats, kind: PathKind): void {
  if (kind === "file" ? stats.isFile() : stats.isDirectory()) return;
  if (kind === "folder") throw new Refused("not-a-folder", `"${shown(path)}" is not a folder.`);
  const what = stats.isDirectory() ? "a folder" : "not a regular file";
  throw new Refused("not-a-file", `"${shown(path)}" is ${what}.`);
}

export const excluded = (path: string): Refused =>
  new Refused("excluded", `"${shown(path)}" is excluded: it must not be read.`);

/** Linux reports the path of an open file; elsewhere the path is resolved once more. */
const realPathOfOpened = async (handle: FileHandle, real: string): Promise<string> =>
  process.platform === "linux" ? await readlink(`/proc/self/fd/${handle.fd}`) : await realpath(real);

async function refuseErrors<Value>(path: string, value: Promise<Value>): Promise<Value> {
  try {
    return await value;
  } catch (error) {
    throw failure(path, error);
  }
}

/** The message of the system is not used: it contains real paths. */
function failure(path: string, error: unknown): Refused {
  const code = codeOf(error);
  if (code === "ENOENT") return new Refused("missing", `"${shown(path)}" does not exist.`);
  if (code === "ENOTDIR")
    return new Refused("missing", `A part of "${shown(path)}" is a file, not a folder.`);
  if (code === "ELOOP") return outside(path);
  return new Refused("unreadable", `"${shown(path)}" cannot be opened (${code}).`);
}

const outside = (path: string): Refused =>
  new Refused("outside", `"${shown(path)}" leads out of the root folder.`);

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown";

const shown = (path: string): string => JSON.stringify(path.slice(0, 200)).slice(1, -1);
