import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { matchesNamePattern } from "./name-pattern.ts";

/** A name in a folder. The folder is a real path; `*` in the name matches any characters. */
interface ExcludedName {
  readonly folder: string;
  readonly name: string;
}

/** The folder in which the command line of Moora keeps sessions and configuration. It is excluded at every depth. */
const sessionsFolder = ".moora";

/** Files and folders that are never read, with everything below them, by their real paths. */
export class ExcludedPaths {
  readonly #names: readonly ExcludedName[];

  /** Paths that do not exist yet are excluded, too. `*` in the last name of a path matches any characters. */
  constructor(paths: readonly string[]) {
    this.#names = paths.flatMap((path) => {
      const folder = realPathOf(dirname(resolve(path)));
      const given = { folder, name: basename(resolve(path)) || "*" };
      const real = realPathOf(join(given.folder, given.name));
      return [given, { folder: dirname(real), name: basename(real) || "*" }];
    });
  }

  /** Whether a real path is excluded, or is below an excluded folder. */
  has(real: string): boolean {
    return this.#names.some(({ folder, name }) => {
      const below = pathBelow(real, folder);
      return below !== undefined && below !== "" && matchesNamePattern(name, below.split(sep, 1)[0] ?? "");
    });
  }

  /** The same, for a path in `root`. */
  hasIn(root: string, real: string): boolean {
    const names = pathBelow(real, root)?.split(sep) ?? [];
    return names.some((name) => name.toLowerCase() === sessionsFolder) || this.has(real);
  }
}

/** The path relative to a folder: "" for the folder itself, undefined for a path outside. */
export function pathBelow(real: string, folder: string): string | undefined {
  if (real === folder) return "";
  const prefix = folder.endsWith(sep) ? folder : folder + sep;
  return real.startsWith(prefix) ? real.slice(prefix.length) : undefined;
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
