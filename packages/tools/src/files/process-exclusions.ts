import { join, resolve } from "node:path";
import { namesOf } from "./excluded-name.ts";

/** Shared by all copies of this package: a module of an application may load another one than the command line. */
const key = Symbol.for("@moora/tools/excluded-paths");

/**
 * Excludes paths from the file tools of this process, as `exclude` of `fileTools` does: also from those that exist already. A relative
 * path counts from the current folder, and from the root of each of these tools. Returns a function that ends this. The command line excludes its secrets in this way from the tools of modules.
 */
export function excludeFromFileTools(paths: readonly string[]): () => void {
  const excluded = [...new Set([...paths, ...withTargets(paths.map((path) => resolve(path)))])];
  exclusions().add(excluded);
  return () => void exclusions().delete(excluded);
}

/** Absolute paths, with what they lead to now: that stays excluded when a link leads elsewhere later. */
export const withTargets = (paths: readonly string[]): readonly string[] => [
  ...paths,
  ...paths.flatMap(namesOf).map(({ folder, pattern }) => join(folder, pattern)),
];

/** The paths that `excludeFromFileTools` excludes now: those that are relative as they are, and from the folder that was the current one. */
export const processExclusions = (): readonly string[] => [...exclusions()].flat();

function exclusions(): Set<readonly string[]> {
  const found: unknown = Reflect.get(globalThis, key);
  if (isExclusions(found)) return found;
  const created = new Set<readonly string[]>();
  Reflect.set(globalThis, key, created);
  return created;
}

/** Only this file writes the value. */
const isExclusions = (value: unknown): value is Set<readonly string[]> => value instanceof Set;
