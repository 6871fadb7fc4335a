import { McpError } from "./mcp-error.ts";

/** Loads a package of the protocol's SDK. Rejects with `not-installed` if it is missing. */
export async function loadSdk<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    throw new McpError(
      "not-installed",
      `The package ${name} is not installed. Install it: npm install ${name}`,
      {
        cause,
      },
    );
  }
}
