import type { Agent, Tool } from "@moora/agent";
import { isObject } from "@moora/agent-core-effects/internal";
import { loadModule } from "./load-module.ts";
import { usageError } from "./cli-failure.ts";

/** The agents that a module exports, one by one or in arrays. Throws `CliFailure` if it exports none or cannot be loaded. */
export async function moduleToAgents(file: string, cwd: string): Promise<readonly Agent<unknown>[]> {
  return agentsIn(await loadModule(file, cwd, "--agent needs a module that exports agents."), file);
}

/** The agents among what a module exports. Throws `CliFailure` without any. */
export const agentsIn = (
  exported: Readonly<Record<string, unknown>>,
  file: string,
): readonly Agent<unknown>[] => exportsOf(exported, isAgent, `${file} exports no agents.`, "defineAgent");

/** The tools that a module exports, one by one or in arrays. Throws `CliFailure` if it exports none or cannot be loaded. */
export async function moduleToTools(file: string, cwd: string): Promise<readonly Tool[]> {
  const exported = await loadModule(file, cwd, "--tools needs a module that exports tools.");
  return exportsOf(exported, isTool, `${file} exports no tools.`, "defineTool");
}

function exportsOf<Value>(
  exported: Readonly<Record<string, unknown>>,
  is: (value: unknown) => value is Value,
  problem: string,
  maker: string,
): readonly Value[] {
  const found = Object.values(exported).flat().filter(is);
  if (found.length > 0) return [...new Set(found)];
  throw usageError(problem, `Export what ${maker} returns.`);
}

const isAgent = (value: unknown): value is Agent<unknown> =>
  isObject(value) && "parts" in value && "config" in value && typeof value["answerOf"] === "function";

const isTool = (value: unknown): value is Tool =>
  isObject(value) && "name" in value && "definition" in value && typeof value["run"] === "function";
