import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Tool } from "@moora/agent";
import { UsageError } from "./usage-error.ts";

/** The tools that a module of the user exports, by themselves or in lists. Throws `UsageError` for one without any. */
export async function moduleToTools(file: string, cwd: string): Promise<readonly Tool[]> {
  const path = resolve(cwd, file);
  if (!existsSync(path)) throw new UsageError(`There is no file ${file}.`, "--tools names a module.");
  const tools = Object.values(await loaded(path, file))
    .flat()
    .filter(isTool);
  if (tools.length > 0) return [...new Set(tools)];
  throw new UsageError(`${file} exports no tool.`, "Export what defineTool gives.");
}

async function loaded(path: string, file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    // What a module exports is not known before it is loaded; each value is looked at.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${file} cannot be loaded: ${why}`, "--tools names a module.");
  }
}

const isTool = (value: unknown): value is Tool =>
  typeof value === "object" &&
  value !== null &&
  "name" in value &&
  "definition" in value &&
  "run" in value &&
  typeof value.run === "function";
