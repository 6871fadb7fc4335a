import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { Refused } from "../refused.ts";
import { segmentsOf, type RootFolder } from "./root-folder.ts";

/** An entry of a folder. `path` is relative to the root, with "/" between names. */
export interface FoundEntry {
  readonly path: string;
  readonly kind: "file" | "folder" | "link" | "other";
}

export interface WalkOptions {
  /** 1: only the entries of the folder itself. */
  readonly depth: number;
  readonly signal: AbortSignal;
}

/** Folders that are skipped, unless a path names them. Files of Moora are never read: see `ExcludedPaths`. */
export const ignoredFolders: readonly string[] = [".git", "node_modules"];

const maxDepth = 32;

/**
 * The entries of a folder and of those below it, breadth first, each folder in the order of its names. Links are listed and
 * not followed. A subfolder that cannot be read is skipped; for the first folder it rejects with `Refused`.
 */
export async function* walk(
  root: RootFolder,
  start: string,
  { depth, signal }: WalkOptions,
): AsyncGenerator<FoundEntry, void, undefined> {
  let folders: string[] = [start];
  for (let level = 1; level <= Math.min(depth, maxDepth) && folders.length > 0; level += 1) {
    const below: string[] = [];
    for (const folder of folders) {
      signal.throwIfAborted();
      for (const entry of await entriesOf(root, folder, folder === start)) {
        yield entry;
        if (entry.kind === "folder") below.push(entry.path);
      }
    }
    folders = below;
  }
}

async function entriesOf(root: RootFolder, folder: string, isStart: boolean): Promise<readonly FoundEntry[]> {
  try {
    const real = await root.realPathOf(folder);
    const entries = await direntsOf(root, folder, real);
    return entries
      .filter(({ name }) => !ignoredFolders.includes(name.toLowerCase()) && !root.excludes(join(real, name)))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map((entry) => ({ path: joined(folder, entry.name), kind: kindOf(entry) }));
  } catch (error) {
    if (isStart || !(error instanceof Refused)) throw error;
    return [];
  }
}

/** Linux lists the open folder itself; elsewhere its path is listed while the folder is open. */
async function direntsOf(root: RootFolder, folder: string, real: string): Promise<Dirent[]> {
  const handle = await root.openReal(folder, real, "folder");
  try {
    const path = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : real;
    return await readdir(path, { withFileTypes: true });
  } finally {
    await handle.close();
  }
}

function kindOf(entry: Dirent): FoundEntry["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}

const joined = (folder: string, name: string): string => [...segmentsOf(folder), name].join("/");
