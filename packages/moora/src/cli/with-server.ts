import { dirname, isAbsolute, join, relative } from "node:path";
import { BuildError, type Agent } from "@moora/agent";
import { errorText } from "@moora/agent-core-effects/internal";
import type { EventLog } from "@moora/event-log";
import type { AgentServer, AgentServerOptions } from "@moora/server";
import { exitCodes, type CliHost, type ExitCode } from "./cli-host.ts";
import type { CommandCall } from "./command.ts";
import { logLines } from "./log-lines.ts";
import type { Options } from "./options.ts";
import { secretIn } from "./secret-file.ts";
import { environmentSecrets } from "./secrets.ts";
import type { AuthFile } from "./auth-file.ts";
import { servedBy } from "./served-agents.ts";
import { toolsOfServer, type McpOption } from "./mcp/tools-of-server.ts";
import { createLogFolder, openLog, type LogTarget } from "./session/log-target.ts";
import { logTargetOf } from "./session/session-call.ts";
import { checkFolderOf } from "./session/use-file.ts";
import { Screen } from "./terminal/screen.ts";
import { usageError } from "./cli-failure.ts";

/** How long running tools have to end when a server is stopped, in milliseconds. */
export const graceMs = 5_000;

interface ServerCall {
  /** The name of the command. */
  readonly name: string;
  readonly call: CommandCall;
  readonly host: CliHost;
  readonly worker: boolean;
  /** Whether it answers requests. */
  readonly listens: boolean;
}

interface OpenServer {
  readonly server: AgentServer;
  readonly agents: readonly Agent<unknown>[];
  /** The place of the sessions, as it is shown. */
  readonly shown: string;
  readonly screen: Screen;
  /** The users of the file of `--auth`; undefined without one. */
  readonly auth: AuthFile | undefined;
  readonly mcp: McpOption;
}

/** Creates the server that the options describe, and closes its log at the end. Throws `CliFailure`. */
export async function withServer(
  { name, call: { args, options }, host, worker, listens }: ServerCall,
  use: (open: OpenServer) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (args.length > 0) throw usageError(`"moora ${name}" takes no arguments.`, `Run: moora help ${name}`);
  const { auth, notice, ...served } = await servedBy(options, host);
  const screen = new Screen(host, [...environmentSecrets(host.env), ...(auth?.secrets ?? [])]);
  const target = logTargetOf(options, host);
  if (notice !== undefined) screen.dim(notice);
  const log = await openLog(target, screen);
  try {
    const mcp = listens ? await toolsOfServer(served.agents, () => mcpSecret(options, host, target)) : {};
    const { createAgentServer } = await import("@moora/server");
    if (worker) checkHasDue(log, target);
    const onError = (error: unknown): void => screen.line(`moora: ${errorText(error)}`);
    const { inspectorOfServer } = await import("@moora/inspector");
    const server = madeServer(createAgentServer, {
      ...served,
      allowedHosts: options["allow-host"] ?? [],
      allowedOrigins: options["allow-origin"] ?? [],
      log,
      worker,
      metrics: true,
      inspector: inspectorOfServer,
      ...(mcp.route === undefined ? {} : { mcp: mcp.route }),
      onError,
      ...logLines(options, screen),
    });
    return await use({ server, agents: served.agents, shown: target.shown, screen, auth, mcp });
  } finally {
    await log.close();
  }
}

/** Creates a server. Throws `CliFailure` for options that it refuses, by the names of the command line. */
function madeServer(
  create: (options: AgentServerOptions) => AgentServer,
  options: AgentServerOptions,
): AgentServer {
  try {
    return create(options);
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    const message = error.message
      .replace("allowedHosts", "--allow-host")
      .replace("allowedOrigins", "--allow-origin")
      .replace("Give authorize as well.", "Name users with --auth FILE, or export authorize from --agent.");
    throw usageError(message, "");
  }
}

/** The key of the open questions of `/mcp`: in the file of `--secret-file`, or beside the log. Throws `CliFailure`. */
function mcpSecret(options: Options, { cwd }: CliHost, { secretFile, shown }: LogTarget): string {
  const given = options["secret-file"];
  if (given === undefined) {
    createLogFolder(dirname(secretFile), shown);
    return secretIn(secretFile, relative(cwd, secretFile));
  }
  checkFolderOf(given, cwd);
  return secretIn(isAbsolute(given) ? given : join(cwd, given), given);
}

/** Throws `CliFailure` for a log that a worker cannot use. */
function checkHasDue({ due }: EventLog, { shown }: LogTarget): void {
  if (due !== undefined) return;
  throw usageError(
    `A worker cannot use ${shown}: files cannot list the sessions that are due.`,
    "Keep sessions in FILE.db or postgres://...",
  );
}

/** Resolves with the exit code when the process is interrupted or terminated. */
export function stopped(host: CliHost): Promise<ExitCode> {
  const { promise, resolve } = Promise.withResolvers<ExitCode>();
  const stops = [
    host.onInterrupt(() => resolve(exitCodes.canceled)),
    host.onTerminate(() => resolve(exitCodes.terminated)),
  ];
  return promise.finally(() => {
    for (const stop of stops) stop();
  });
}
