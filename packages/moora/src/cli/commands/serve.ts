import { BuildError, ListenError, type Agent } from "@moora/agent";
import type { AgentServer } from "@moora/server";
import type { ServedAgents as ListeningServer } from "@moora/server/node";
import type { AuthFile } from "../auth-file.ts";
import { describingOptions, type Command, type CommandCall } from "../command.ts";
import type { McpOption } from "../mcp/tools-of-server.ts";
import { graceMs, stopped, withServer } from "../with-server.ts";
import { usageError } from "../cli-failure.ts";

/** Serves agents over HTTP until it is stopped. */
export const serveCommand: Command = {
  name: "serve",
  usage: "",
  summary: "Serve agents over HTTP on this machine, until Ctrl-C.",
  options: [
    "port",
    "host",
    "auth",
    "allow-host",
    "allow-origin",
    "secret-file",
    "worker",
    "agent",
    "log",
    "verbose",
    ...describingOptions,
    "exclude",
    "help",
  ],
  optionHelp: {
    agent: "A module that exports agents, authorize for users, and context for tools that need one.",
  },
  run: (call, host) =>
    withServer(
      { name: "serve", call, host, worker: call.options.worker === true, listens: true },
      async ({ server, agents, shown, screen, auth, mcp }) => {
        const { url, close } = await listen(call, server);
        for (const line of addressLines(url, agents, mcp)) screen.result(`${line}\n`);
        if (auth !== undefined) screen.result(`${usersLine(auth)}\n`);
        screen.result(`Listening on ${url}. Sessions are kept in ${shown}. Ctrl-C stops the server.\n`);
        const code = await stopped(host);
        await close({ graceMs });
        return code;
      },
    ),
};

/** The addresses of what a server has, one in each line. */
function addressLines(
  url: string,
  agents: readonly Agent<unknown>[],
  { route, isOffBecause = "" }: McpOption,
): readonly string[] {
  const ofAgents = agents.flatMap(({ name }) => {
    const address = `${url}/agents/${encodeURIComponent(name)}`;
    return [
      `Agent ${name}: POST ${address}/sessions`,
      `  Chat of the AI SDK: POST ${address}/chat`,
      `  AG-UI: POST ${address}/ag-ui`,
    ];
  });
  return [
    ...ofAgents,
    `Sessions: ${url}/sessions`,
    `Description of the routes: ${url}/openapi.json`,
    `Inspector: ${url}/inspector/`,
    `MCP: ${route === undefined ? `off. ${isOffBecause}` : `${url}/mcp`}`,
  ];
}

const usersLine = ({ users }: AuthFile): string =>
  `Users: ${users.join(", ")}. Requests need the header "authorization: Bearer TOKEN"; the inspector asks for the token.`;

async function listen({ options }: CommandCall, server: AgentServer): Promise<ListeningServer> {
  const port = options.port ?? 8787;
  const hostname = options.host ?? "127.0.0.1";
  const { serve } = await import("@moora/server/node");
  try {
    return await serve(server, { port, hostname });
  } catch (error) {
    if (error instanceof BuildError) {
      throw usageError(
        `--host ${hostname} can be reached by others, and the server has no authorize.`,
        "Name its users with --auth FILE, export authorize from the module of --agent, or use 127.0.0.1.",
      );
    }
    throw error instanceof ListenError ? usageError(error.message, "") : error;
  }
}
