import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { loadError } from "./load-error.ts";
import { usageError } from "./cli-failure.ts";

/** Loads a module of the user. Throws `CliFailure`, with `purpose` for a missing file. */
export async function loadModule(
  file: string,
  cwd: string,
  purpose: string,
): Promise<Readonly<Record<string, unknown>>> {
  const path = resolve(cwd, file);
  if (!existsSync(path)) throw usageError(`The file ${file} does not exist.`, purpose);
  const url = pathToFileURL(path).href;
  try {
    // What a module exports is not known before it is loaded; each value is checked.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return (await import(url)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw usageError(`Cannot load ${file}: ${loadError(error, url)}`, moduleHint(error, file));
  }
}

/** How to make Node load a file as a module, if that is the problem. `npm init` writes "type": "commonjs". */
function moduleHint(error: unknown, file: string): string {
  const isCommonJs =
    error instanceof SyntaxError &&
    /^Cannot use import statement outside a module|^Unexpected token 'export'/.test(error.message);
  const [, name, extension] = /^(.*)\.([jt]s)$/.exec(file) ?? [];
  if (!isCommonJs || name === undefined || extension === undefined) return "";
  return `\nNode loads it as CommonJS. Set "type": "module" in package.json, or rename it to ${name}.m${extension}.`;
}
