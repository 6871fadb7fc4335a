import { statSync, type BigIntStats } from "node:fs";
import { resolve, sep } from "node:path";
import { matchesOrIsBelow, namesOf, type ExcludedName } from "./excluded-name.ts";
import { isMooraPath } from "./moora-files.ts";
import { processExclusions, withTargets } from "./process-exclusions.ts";

/** Files and folders that are never read in a root folder, with everything below them, by their real paths. */
export class ExcludedPaths {
  readonly #root: string;
  readonly #own: readonly string[];
  #names: readonly ExcludedName[] = [];

  /**
   * `root`: a real path. Paths that do not exist yet are excluded, too. Those that are relative count from the root and from the
   * current folder.
   */
  constructor(root: string, paths: readonly string[]) {
    this.#root = root;
    this.#own = withTargets(paths.flatMap((path) => [resolve(path), resolve(root, path)]));
    this.refresh();
  }

  /** Follows the links in the paths once more: one may lead elsewhere now. What they were first stays excluded. */
  refresh(): void {
    this.#names = this.#pathsNow().flatMap(namesOf);
  }

  /** Whether a file is an excluded one under another name. */
  isSameFile({ dev, ino }: Pick<BigIntStats, "dev" | "ino">): boolean {
    return this.#pathsNow().some((path) => {
      try {
        const found = statSync(path, { bigint: true, throwIfNoEntry: false });
        return found?.dev === dev && found.ino === ino;
      } catch {
        return false;
      }
    });
  }

  /** Whether a real path is excluded, or is below an excluded folder. */
  has(real: string): boolean {
    return this.#names.some(({ folder, pattern }) => {
      const below = pathBelow(real, folder);
      return below !== undefined && below !== "" && matchesOrIsBelow(pattern, below);
    });
  }

  /** The same, for a path in the root. Files of Moora are excluded by their names. */
  hasInRoot(real: string): boolean {
    return isMooraPath(pathBelow(real, this.#root)?.split(sep) ?? []) || this.has(real);
  }

  /** With the paths that the process excludes now. */
  #pathsNow(): readonly string[] {
    return [...new Set([...this.#own, ...processExclusions().map((path) => resolve(this.#root, path))])];
  }
}

/** The path relative to a folder: "" for the folder itself, undefined for a path outside. */
export function pathBelow(real: string, folder: string): string | undefined {
  if (real === folder) return "";
  const prefix = folder.endsWith(sep) ? folder : folder + sep;
  return real.startsWith(prefix) ? real.slice(prefix.length) : undefined;
}
