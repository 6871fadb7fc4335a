import { checkOptions, isObject, type OptionForms } from "@moora/agent-core-effects/internal";
import type { McpHost, McpRoute, UserSessions } from "@moora/agent/internal";
import { isJsonObject } from "@moora/llm/internal";
import { loadHandler, type LoadedServer } from "./load-handler.ts";
import { checkSecret } from "./mcp-server.ts";
import { CallRunner } from "./run-call.ts";
import { servedAgents } from "./served-agent.ts";
import type { FactoryParts } from "./server-factory.ts";

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
    const runner = new CallRunner(onError);
    const sessionsOf: FactoryParts["sessionsOf"] = (authInfo) => sessionsIn(authInfo?.extra);
    const parts = { agents: servedAgents(served), options: ofServer, runner, sessionsOf };
    let loaded: Promise<LoadedServer> | undefined;
    return {
      async fetch(request, sessions, parsedBody) {
        const { handler } = await (loaded ??= loadHandler(parts, onError));
        const authInfo = { token: "", clientId: sessions.user, scopes: [], extra: { sessions } };
        return await handler.fetch(request, { authInfo, parsedBody });
      },
      async close() {
        const server = await loaded?.catch(() => undefined);
        await runner.close(async () => await server?.handler.close());
      },
    };
  };
}

/** The sessions that `fetch` has added to a request. */
function sessionsIn(extra: unknown): UserSessions {
  const sessions = isJsonObject(extra) ? extra["sessions"] : undefined;
  if (!isSessions(sessions)) throw new Error("The request has no user.");
  return sessions;
}

const isSessions = (value: unknown): value is UserSessions =>
  isObject(value) && typeof value["refusal"] === "function";
