import { realpathSync } from "node:fs";
import { basename, dirname, join, parse, sep } from "node:path";
import { matchesNamePattern } from "./name-pattern.ts";

/** Names below a folder, separated by "/". The folder is a real path; the names are a pattern, as `exclude` of `fileTools` has it. */
export interface ExcludedName {
  readonly folder: string;
  readonly pattern: string;
}

/** The names of an absolute path below the folder that has no `*`, and of what it leads to in the folder of that. */
export function namesOf(path: string): readonly ExcludedName[] {
  const start = parse(path).root;
  const names = path.slice(start.length).split(sep);
  const firstPattern = names.findIndex((name) => name.includes("*"));
  const first = firstPattern === -1 ? names.length - 1 : firstPattern;
  const folder = realPathOf(join(start, ...names.slice(0, first)));
  const given = names.slice(first);
  const real = realPathOf(join(folder, ...given));
  return [
    { folder, pattern: given.join("/") || "*" },
    { folder: dirname(real), pattern: basename(real) || "*" },
  ];
}

/** Whether a path relative to the folder of a pattern, or a folder above it, matches the pattern. */
export function matchesOrIsBelow(pattern: string, path: string): boolean {
  const names = path.split(sep);
  // A pattern without "/" matches names of the folder itself only.
  const most = pattern.includes("/") ? names.length : 1;
  return names
    .slice(0, most)
    .some((_, index) => matchesNamePattern(pattern, names.slice(0, index + 1).join("/")));
}

/** The real path. Of a path that does not exist, the part that does is resolved. */
function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), basename(path));
  }
}
