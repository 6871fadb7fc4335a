import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { PathRefused, type RootFolder } from "./root-folder.ts";

/** Something in a folder. `path` begins at the root, with "/" between names. */
export interface FoundEntry {
  readonly path: string;
  readonly kind: "file" | "folder" | "link" | "other";
}

export interface WalkOptions {
  /** 1: only what lies in the folder itself. */
  readonly depth: number;
  readonly signal: AbortSignal;
}

/** Folders that are passed over, unless a path names them. */
export const ignoredFolders: readonly string[] = [".git", ".moora", "node_modules"];

const maxDepth = 32;

/**
 * What lies in a folder and below it, nearest first, each folder in the order of its names. Links are named and not
 * followed. A folder below that cannot be read is passed over; the first one rejects with `PathRefused`.
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
    const entries = await direntsOf(root, folder);
    return entries
      .filter(({ name }) => !ignoredFolders.includes(name.toLowerCase()))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map((entry) => ({ path: joined(folder, entry.name), kind: kindOf(entry) }));
  } catch (error) {
    if (isStart || !(error instanceof PathRefused)) throw error;
    return [];
  }
}

/** Linux lists the opened folder itself; elsewhere its path, while it is held open. */
async function direntsOf(root: RootFolder, folder: string): Promise<Dirent[]> {
  const real = await root.realPathOf(folder);
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

function joined(folder: string, name: string): string {
  const names = folder.split("/").filter((part) => part !== "" && part !== ".");
  return [...names, name].join("/");
}
