import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Tool } from "@moora/agent";
import { errorText } from "@moora/agent-core-effects/internal";
import type { ConfiguredServer, McpConnection } from "@moora/mcp";
import { CliFailure, usageError } from "../cli-failure.ts";
import { exitCodes, type CliHost } from "../cli-host.ts";
import type { Options } from "../options.ts";
import type { Screen } from "../terminal/screen.ts";
import { isMcpError, isNotInstalled, loadMcp } from "./load-mcp.ts";
import { textToServer } from "./text-to-server.ts";

/** The MCP servers of a command. */
export interface McpServers {
  readonly tools: readonly Tool[];
  readonly close: () => Promise<void>;
}

const configFile = join(".moora", "mcp.json");

/**
 * Connects to the servers that `--mcp` and `--mcp-config` name. Throws `CliFailure` for an invalid value and a missing package,
 * and `CliFailure` if a server cannot be used; then none runs.
 */
export async function openMcpServers(options: Options, host: CliHost, screen: Screen): Promise<McpServers> {
  const isAsked = options.mcp !== undefined || options["mcp-config"] !== undefined;
  if (!isAsked) {
    // A stored file must not decide which programs run.
    if (existsSync(resolve(host.cwd, configFile))) {
      screen.dim(
        `The MCP servers of ${configFile} are not started. To start them: --mcp-config ${configFile}`,
      );
    }
    return { tools: [], close: () => Promise.resolve() };
  }
  const { connectMcp, parseMcpConfig } = await loadMcp(options.mcp !== undefined ? "--mcp" : "--mcp-config");
  const configured = fromConfig(options, host, parseMcpConfig);
  const servers = uniqueNames([...(options.mcp ?? []).map(textToServer), ...configured]);
  const found = await Promise.allSettled(
    servers.map(async ({ name, server }) => {
      const onSkipped = (tool: { readonly name: string; readonly reason: string }): void =>
        screen.dim(`The tool ${tool.name} of the MCP server ${name} is left out: ${tool.reason}`);
      const onError = (error: Error): void => screen.dim(error.message);
      return await connectMcp(atFolder(server, host), { name, onSkipped, onError });
    }),
  );
  const connections = found.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const close = (): Promise<void> => closeAll(connections);
  const failure = found.find((one) => one.status === "rejected");
  if (failure !== undefined) {
    await close();
    throw toFailure(failure.reason);
  }
  return { tools: connections.flatMap(({ tools }) => tools), close };
}

const atFolder = (server: ConfiguredServer["server"], { cwd }: CliHost): ConfiguredServer["server"] =>
  "command" in server ? { cwd, ...server } : server;

function fromConfig(
  options: Options,
  { cwd, env }: CliHost,
  parse: (text: string, env: CliHost["env"]) => readonly ConfiguredServer[],
): readonly ConfiguredServer[] {
  const file = options["mcp-config"];
  if (file === undefined) return [];
  let text: string;
  try {
    text = readFileSync(resolve(cwd, file), "utf8");
  } catch (error) {
    throw usageError(`--mcp-config: the file ${file} cannot be read: ${errorText(error)}.`, "");
  }
  try {
    return parse(text, env);
  } catch (error) {
    throw usageError(`--mcp-config ${file}: ${errorText(error)}`, "");
  }
}

/** The servers; the second one of a name gets a number. */
function uniqueNames(servers: readonly ConfiguredServer[]): readonly ConfiguredServer[] {
  const taken = new Set<string>();
  return servers.map(({ name, server }) => {
    let unique = name;
    for (let number = 2; taken.has(unique); number += 1) unique = `${name.slice(0, 28)}_${number}`;
    taken.add(unique);
    return { name: unique, server };
  });
}

async function closeAll(connections: readonly McpConnection[]): Promise<void> {
  await Promise.allSettled(connections.map((connection) => connection.close()));
}

/** The failure that corresponds to the error of a connection. Any other error is a bug and is returned as it is. */
function toFailure(error: unknown): unknown {
  if (!isMcpError(error)) return error;
  return isNotInstalled(error)
    ? usageError(error.message, "")
    : new CliFailure(exitCodes.failed, error.message);
}
