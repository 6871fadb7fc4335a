import type { Agent } from "@moora/agent";
import { loadModule } from "./load-module.ts";
import { UsageError } from "./usage-error.ts";

/** The agents that a module exports, one by one or in arrays. Throws `UsageError` if it exports none or cannot be loaded. */
export async function moduleToAgents(file: string, cwd: string): Promise<readonly Agent<unknown>[]> {
  const exported = await loadModule(file, cwd, "--agent needs a module that exports agents.");
  return agentsIn(exported, file);
}

/** The agents among what a module exports. Throws `UsageError` without any. */
export function agentsIn(
  exported: Readonly<Record<string, unknown>>,
  file: string,
): readonly Agent<unknown>[] {
  const agents = Object.values(exported).flat().filter(isAgent);
  if (agents.length > 0) return [...new Set(agents)];
  throw new UsageError(`${file} exports no agents.`, "Export what defineAgent returns.");
}

const isAgent = (value: unknown): value is Agent<unknown> =>
  typeof value === "object" &&
  value !== null &&
  "parts" in value &&
  "config" in value &&
  "tools" in value &&
  "answerOf" in value &&
  typeof value.answerOf === "function";
