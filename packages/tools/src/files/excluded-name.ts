import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** A name in a folder. The folder is a real path; `*` in the name matches any characters. */
export interface ExcludedName {
  readonly folder: string;
  readonly name: string;
}

/** The name of an absolute path in its folder, and in the folder that it leads to. */
export function namesOf(path: string): readonly ExcludedName[] {
  const given = { folder: realPathOf(dirname(path)), name: basename(path) || "*" };
  const real = realPathOf(join(given.folder, given.name));
  return [given, { folder: dirname(real), name: basename(real) || "*" }];
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
