import { BuildError } from "@moora/agent";
import type { AgentServer } from "@moora/server";
import type { ServedAgents as ListeningServer } from "@moora/server/node";
import type { Command, CommandCall } from "../command.ts";
import { describingOptions } from "../served-agents.ts";
import { graceMs, stopped, withServer } from "../with-server.ts";
import { UsageError } from "../usage-error.ts";

/** Serves agents over HTTP until it is stopped. */
export const serveCommand: Command = {
  name: "serve",
  usage: "",
  summary: "Serve agents over HTTP on this machine, until Ctrl-C.",
  options: ["port", "host", "worker", "agent", "log", ...describingOptions, "help"],
  run: (call, host) =>
    withServer(
      { name: "serve", call, host, worker: call.options.has("worker") },
      async ({ server, agents, shown, screen }) => {
        const { url, close } = await listen(call, server);
        for (const { name } of agents) screen.result(`Agent ${name}: POST ${url}/agents/${name}/sessions\n`);
        screen.result(`Listening on ${url}. Sessions are kept in ${shown}. Ctrl-C stops the server.\n`);
        const code = await stopped(host);
        await close({ graceMs });
        return code;
      },
    ),
};

async function listen({ options }: CommandCall, server: AgentServer): Promise<ListeningServer> {
  const port = portOf(options.text("port"));
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

/** An address that cannot be bound; undefined for any other error. */
function bindError(error: unknown, hostname: string, port: number): UsageError | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  if (error.code === "EADDRINUSE")
    return new UsageError(`Port ${port} of ${hostname} is in use.`, "Name another one with --port.");
  return new UsageError(`Cannot listen on ${hostname}, port ${port}: ${String(error.code)}.`, "");
}

/** 0 is any free port. */
function portOf(text: string | undefined): number {
  if (text === undefined) return 8787;
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`--port must be an integer from 0 to 65535, got "${text}".`, "");
}
