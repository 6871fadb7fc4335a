import type { Tool } from "./define-tool.ts";

/** A tool by its name or a former one; undefined if there is none. */
export function toolNamed(tools: ReadonlyMap<string, Tool>, name: string): Tool | undefined {
  const tool = tools.get(name);
  if (tool !== undefined) return tool;
  for (const renamed of tools.values())
    if (renamed.definition.formerNames?.includes(name) === true) return renamed;
  return undefined;
}
