import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Tool } from "@moora/agent";
import { loadError } from "./load-error.ts";
import { UsageError } from "./usage-error.ts";

/** The tools that a module exports, one by one or in arrays. Throws `UsageError` if it exports none or cannot be loaded. */
export async function moduleToTools(file: string, cwd: string): Promise<readonly Tool[]> {
  const path = resolve(cwd, file);
  if (!existsSync(path))
    throw new UsageError(`The file ${file} does not exist.`, "--tools needs a module that exports tools.");
  const tools = Object.values(await loadModule(path, file))
    .flat()
    .filter(isTool);
  if (tools.length > 0) return [...new Set(tools)];
  throw new UsageError(`${file} exports no tools.`, "Export what defineTool returns.");
}

async function loadModule(path: string, file: string): Promise<Readonly<Record<string, unknown>>> {
  const url = pathToFileURL(path).href;
  try {
    // What a module exports is not known before it is loaded; each value is checked.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return (await import(url)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new UsageError(`Cannot load ${file}: ${loadError(error, url)}`, "");
  }
}

const isTool = (value: unknown): value is Tool =>
  typeof value === "object" &&
  value !== null &&
  "name" in value &&
  "definition" in value &&
  "run" in value &&
  typeof value.run === "function";
