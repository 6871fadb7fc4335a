import { isMissing } from "@moora/llm/internal";
import { McpError } from "./mcp-error.ts";

/** Loads a package of the protocol's SDK. Rejects with `not-installed` if it is missing or cannot be loaded. */
export async function loadSdk<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    const problem = isMissing(cause, name)
      ? `is not installed. Install it: npm install ${name}`
      : `cannot be loaded: ${String(cause)}`;
    throw new McpError("not-installed", `The package ${name} ${problem}`, { cause });
  }
}
