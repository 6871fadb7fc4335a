import { statSync, type BigIntStats } from "node:fs";
import { resolve, sep } from "node:path";
import { namesOf, type ExcludedName } from "./excluded-name.ts";
import { isMooraPath } from "./moora-files.ts";
import { matchesNamePattern } from "./name-pattern.ts";
import { processExclusions } from "./process-exclusions.ts";

/** Files and folders that are never read, with everything below them, by their real paths. */
export class ExcludedPaths {
  readonly #paths: readonly string[];
  readonly #first: readonly ExcludedName[];
  #names: readonly ExcludedName[];

  /** Paths that do not exist yet are excluded, too. `*` in the last name of a path matches any characters. */
  constructor(paths: readonly string[]) {
    this.#paths = paths.map((path) => resolve(path));
    this.#first = this.#paths.flatMap(namesOf);
    this.#names = this.#namesNow();
  }

  /** Follows the links in the paths once more: one may lead elsewhere now. What they were first stays excluded. */
  refresh(): void {
    this.#names = this.#namesNow();
  }

  /** Whether a file is an excluded one under another name. */
  isSameFile({ dev, ino }: Pick<BigIntStats, "dev" | "ino">): boolean {
    return this.#pathsNow().some((path) => {
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

  /** The same, for a path in `root`. Files of Moora are excluded by their names. */
  hasIn(root: string, real: string): boolean {
    return isMooraPath(pathBelow(real, root)?.split(sep) ?? []) || this.has(real);
  }

  #namesNow(): readonly ExcludedName[] {
    return [...this.#first, ...this.#pathsNow().flatMap(namesOf)];
  }

  #pathsNow(): readonly string[] {
    return [...this.#paths, ...processExclusions()];
  }
}

/** The path relative to a folder: "" for the folder itself, undefined for a path outside. */
export function pathBelow(real: string, folder: string): string | undefined {
  if (real === folder) return "";
  const prefix = folder.endsWith(sep) ? folder : folder + sep;
  return real.startsWith(prefix) ? real.slice(prefix.length) : undefined;
}
