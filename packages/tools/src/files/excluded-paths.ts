import { realpathSync, statSync, type BigIntStats } from "node:fs";
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
  readonly #paths: readonly string[];
  readonly #first: readonly ExcludedName[];
  #names: readonly ExcludedName[];

  /** Paths that do not exist yet are excluded, too. `*` in the last name of a path matches any characters. */
  constructor(paths: readonly string[]) {
    this.#paths = paths.map((path) => resolve(path));
    this.#first = this.#paths.flatMap(namesOf);
    this.#names = this.#first;
  }

  /** Follows the links in the paths once more: one may lead elsewhere now. What they were first stays excluded. */
  refresh(): void {
    this.#names = [...this.#first, ...this.#paths.flatMap(namesOf)];
  }

  /** Whether a file is an excluded one under another name. */
  isSameFile({ dev, ino }: Pick<BigIntStats, "dev" | "ino">): boolean {
    return this.#paths.some((path) => {
      try {
        const found = statSync(path, { bigint: true });
        return found.dev === dev && found.ino === ino;
      } catch {
        return false;
      }
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

/** The name of a path in its folder, and in the folder that it leads to. */
function namesOf(path: string): readonly ExcludedName[] {
  const given = { folder: realPathOf(dirname(path)), name: basename(path) || "*" };
  const real = realPathOf(join(given.folder, given.name));
  return [given, { folder: dirname(real), name: basename(real) || "*" }];
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
