import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { loadError } from "./load-error.ts";
import { UsageError } from "./usage-error.ts";

/** What a module exports, one by one; arrays by their items. Throws `UsageError`, with a hint if the file does not exist. */
export async function loadModule(file: string, cwd: string, hint: string): Promise<readonly unknown[]> {
  const path = resolve(cwd, file);
  if (!existsSync(path)) throw new UsageError(`The file ${file} does not exist.`, hint);
  const url = pathToFileURL(path).href;
  try {
    // What a module exports is not known before it is loaded; each value is checked.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return Object.values((await import(url)) as Readonly<Record<string, unknown>>).flat();
  } catch (error) {
    throw new UsageError(`Cannot load ${file}: ${loadError(error, url)}`, "");
  }
}
