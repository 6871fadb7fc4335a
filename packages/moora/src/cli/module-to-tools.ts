import type { Tool } from "@moora/agent";
import { loadModule } from "./load-module.ts";
import { UsageError } from "./usage-error.ts";

/** The tools that a module exports, one by one or in arrays. Throws `UsageError` if it exports none or cannot be loaded. */
export async function moduleToTools(file: string, cwd: string): Promise<readonly Tool[]> {
  const tools = Object.values(await loadModule(file, cwd, "--tools needs a module that exports tools."))
    .flat()
    .filter(isTool);
  if (tools.length > 0) return [...new Set(tools)];
  throw new UsageError(`${file} exports no tools.`, "Export what defineTool returns.");
}

const isTool = (value: unknown): value is Tool =>
  typeof value === "object" &&
  value !== null &&
  "name" in value &&
  "definition" in value &&
  "run" in value &&
  typeof value.run === "function";
