import { errorText } from "@moora/agent-core-effects/internal";
import manifest from "../../../package.json" with { type: "json" };
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { logLines } from "../log-lines.ts";
import { loadMcp } from "../mcp/load-mcp.ts";
import { moduleToAgents } from "../module-to-agents.ts";
import { openLog } from "../session/log-target.ts";
import { logSecrets, logTargetOf } from "../session/session-call.ts";
import { environmentSecrets } from "../secrets.ts";
import { Screen } from "../terminal/screen.ts";
import { usageError } from "../cli-failure.ts";

/** Serves agents to an MCP client that has started this process. */
export const mcpCommand: Command = {
  name: "mcp",
  usage: "--agent FILE",
  summary: "Serve agents to an MCP client, over standard input and output.",
  options: ["agent", "log", "verbose", "help"],
  async run({ args, options }, host) {
    const file = options.agent;
    if (args.length > 0 || file === undefined)
      throw usageError('"moora mcp" needs a module with agents.', "Use moora mcp --agent FILE.");
    const { mcpServer } = await loadMcp('"moora mcp"');
    const agents = await moduleToAgents(file, host.cwd);
    const target = logTargetOf(options, host);
    const screen = new Screen(host, [...environmentSecrets(host.env), ...logSecrets(target)]);
    const log = await openLog(target, screen);
    const onError = (error: unknown): void => screen.line(errorText(error));
    const server = mcpServer(agents, {
      version: manifest.version,
      log,
      onError,
      ...logLines(options, screen),
    });
    let isStopped = false;
    const unsubscribe = host.onTerminate(() => {
      isStopped = true;
      void server.close();
    });
    try {
      await server.serveStdio({ input: host.stdin, output: host.stdout });
    } finally {
      unsubscribe();
      await server.close();
      await log.close();
    }
    return isStopped ? exitCodes.terminated : exitCodes.answered;
  },
};
