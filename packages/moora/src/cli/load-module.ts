import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { loadError } from "./load-error.ts";
import { UsageError } from "./usage-error.ts";

/** Loads a module of the user. Throws `UsageError`, with `purpose` for a missing file. */
export async function loadModule(
  file: string,
  cwd: string,
  purpose: string,
): Promise<Readonly<Record<string, unknown>>> {
  const path = resolve(cwd, file);
  if (!existsSync(path)) throw new UsageError(`The file ${file} does not exist.`, purpose);
  const url = pathToFileURL(path).href;
  try {
    // What a module exports is not known before it is loaded; each value is checked.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return (await import(url)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new UsageError(`Cannot load ${file}: ${loadError(error, url)}`, "");
  }
}
