import { BuildError } from "@moora/agent";
import { errorText } from "@moora/agent-core-effects/internal";
import type { AgentServer } from "@moora/server";
import type { ServedAgents as ListeningServer } from "@moora/server/node";
import { exitCodes, type CliHost, type ExitCode } from "../cli-host.ts";
import type { Command, CommandCall } from "../command.ts";
import { environmentSecrets } from "../secrets.ts";
import { describingOptions, servedAgents } from "../served-agents.ts";
import { noticeToMessage, openLog, parseLogTarget } from "../session/log-target.ts";
import { Screen } from "../terminal/screen.ts";
import { UsageError } from "../usage-error.ts";

/** How long running tools have to end when the server is stopped, in milliseconds. */
const graceMs = 5_000;

/** Serves agents over HTTP until it is stopped. */
export const serveCommand: Command = {
  name: "serve",
  usage: "",
  summary: "Serve agents over HTTP on this machine, until Ctrl-C.",
  options: ["port", "host", "agent", "log", ...describingOptions, "help"],
  async run(call, host) {
    if (call.args.length > 0)
      throw new UsageError('"moora serve" takes no arguments.', "Run: moora help serve");
    const screen = new Screen(host, environmentSecrets(host.env));
    const target = parseLogTarget(call.options.text("log") ?? host.env["MOORA_LOG"], host.cwd);
    const onNotice = (notice: Parameters<typeof noticeToMessage>[0]): void =>
      screen.line(noticeToMessage(notice));
    const served = await servedAgents(call.options, host);
    const log = await openLog(target, { creates: true, onNotice });
    try {
      const { createAgentServer } = await import("@moora/server");
      const server = createAgentServer({
        ...served,
        log,
        onError: (error) => screen.line(`moora: ${errorText(error)}`),
      });
      const { url, close } = await listen(call, server);
      for (const { name } of served.agents)
        screen.result(`Agent ${name}: POST ${url}/agents/${name}/sessions\n`);
      screen.result(`Listening on ${url}. Sessions are kept in ${target.shown}. Ctrl-C stops the server.\n`);
      const code = await stopped(host);
      await close({ graceMs });
      return code;
    } finally {
      await log.close();
    }
  },
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

function stopped(host: CliHost): Promise<ExitCode> {
  const { promise, resolve } = Promise.withResolvers<ExitCode>();
  const stops = [
    host.onInterrupt(() => resolve(exitCodes.canceled)),
    host.onTerminate(() => resolve(exitCodes.terminated)),
  ];
  return promise.finally(() => {
    for (const stop of stops) stop();
  });
}
