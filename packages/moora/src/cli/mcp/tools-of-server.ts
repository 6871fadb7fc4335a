import type { Agent } from "@moora/agent";
import type { AgentServerOptions } from "@moora/server";
import manifest from "../../../package.json" with { type: "json" };
import { CliFailure } from "../cli-failure.ts";
import { isNotInstalled, loadMcp } from "./load-mcp.ts";

/** The option `mcp` of a server, or why it is off. */
export interface McpOption {
  readonly route?: NonNullable<AgentServerOptions["mcp"]>;
  readonly isOffBecause?: string;
}

/**
 * Makes the agents of a server tools of the Model Context Protocol, where its packages are installed. `secret`: returns the key that signs
 * their open questions, which survive a restart with it.
 */
export async function toolsOfServer(
  agents: readonly Agent<unknown>[],
  secret: () => string,
): Promise<McpOption> {
  const unfit = agents.find(({ name }) => !/^[A-Za-z0-9_-]{1,64}$/.test(name));
  if (unfit !== undefined)
    return { isOffBecause: `The name ${JSON.stringify(unfit.name)} cannot be that of a tool.` };
  const mcp = await loadedMcp();
  return "isOffBecause" in mcp
    ? mcp
    : { route: mcp.mcpOfServer({ version: manifest.version, secret: secret() }) };
}

async function loadedMcp(): Promise<Awaited<ReturnType<typeof loadMcp>> | { readonly isOffBecause: string }> {
  try {
    const mcp = await loadMcp("MCP");
    await mcp.checkServerSdk();
    return mcp;
  } catch (error) {
    if (isNotInstalled(error) || error instanceof CliFailure) return { isOffBecause: error.message };
    throw error;
  }
}
