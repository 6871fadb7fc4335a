import { BuildError } from "@moora/agent";
import type { AgentServer } from "@moora/server";
import type { ServedAgents as ListeningServer } from "@moora/server/node";
import type { Command, CommandCall } from "../command.ts";
import { describingOptions } from "../served-agents.ts";
import { bindError, portOf } from "../listening.ts";
import { graceMs, stopped, withServer } from "../with-server.ts";
import { UsageError } from "../usage-error.ts";

/** Serves agents over HTTP until it is stopped. */
export const serveCommand: Command = {
  name: "serve",
  usage: "",
  summary: "Serve agents over HTTP on this machine, until Ctrl-C.",
  options: ["port", "host", "worker", "agent", "log", "verbose", ...describingOptions, "help"],
  run: (call, host) =>
    withServer(
      { name: "serve", call, host, worker: call.options.has("worker") },
      async ({ server, agents, shown, screen }) => {
        const { url, close } = await listen(call, server);
        for (const { name } of agents) screen.result(`Agent ${name}: POST ${url}/agents/${name}/sessions\n`);
        screen.result(`Inspector: ${url}/inspector/\n`);
        screen.result(`Listening on ${url}. Sessions are kept in ${shown}. Ctrl-C stops the server.\n`);
        const code = await stopped(host);
        await close({ graceMs });
        return code;
      },
    ),
};

async function listen({ options }: CommandCall, server: AgentServer): Promise<ListeningServer> {
  const port = portOf(options.text("port"), 8787);
  const hostname = options.text("host") ?? "127.0.0.1";
  const { serve } = await import("@moora/server/node");
  try {
    return await serve(server, { port, hostname });
  } catch (error) {
    if (error instanceof BuildError) {
      throw new UsageError(
        `--host ${hostname} can be reached by others, and the server has no authorize.`,
        "Export authorize from the module of --agent, or use 127.0.0.1.",
      );
    }
    throw bindError(error, hostname, port) ?? error;
  }
}
