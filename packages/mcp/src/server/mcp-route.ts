import { checkOptions, type OptionForms } from "@moora/agent-core-effects/internal";
import type { McpHost, McpRoute } from "@moora/agent/internal";
import { checkSecret } from "./mcp-server.ts";
import { servedAgents } from "./served-agent.ts";
import { ToolServer } from "./tool-server.ts";

/** The options of `mcpOfServer`. */
export interface McpRouteOptions {
  /** The name of the server. Default: "moora". */
  readonly name?: string;
  /** The release of the server. Default: that of `@moora/mcp`. */
  readonly version?: string;
  /** The key that signs what a client keeps while a person decides, as `secret` of `mcpServer`. Default: a random key. */
  readonly secret?: string | Uint8Array;
  /** The descriptions of the tools, by the names of the agents. Default: a sentence with the name. */
  readonly descriptions?: Readonly<Record<string, string>>;
}

const forms: OptionForms<McpRouteOptions> = {
  name: "string",
  version: "string",
  secret: "any",
  descriptions: "object",
};

/**
 * The option `mcp` of `createAgentServer`: its agents as tools at `/mcp`, with its users, sessions, limits and log. Needs the package
 * `@modelcontextprotocol/server`. Throws `BuildError` for an invalid option; the server does so for an agent whose name cannot be that
 * of a tool.
 */
export function mcpOfServer(options: McpRouteOptions = {}): (host: McpHost) => McpRoute {
  checkOptions("mcpOfServer", options, forms);
  checkSecret(options.secret);
  const { descriptions = {}, ...ofServer } = options;
  return ({ agents, onError }) => {
    const served = agents.map((agent) => {
      const description = descriptions[agent.name];
      return description === undefined ? agent : { agent, description };
    });
    return new ToolServer({ agents: servedAgents(served), options: ofServer }, onError);
  };
}
