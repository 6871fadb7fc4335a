import { needsContext, type Agent } from "@moora/agent";
import type { AgentServerOptions, Authorize } from "@moora/server";
import { readAuthFile, type AuthFile } from "./auth-file.ts";
import { chooseLlm } from "./choose-llm.ts";
import type { CliHost } from "./cli-host.ts";
import { describingOptions } from "./command.ts";
import { loadModule } from "./load-module.ts";
import { agentsIn } from "./module-to-agents.ts";
import { optionsToAgent } from "./options-to-agent.ts";
import type { Options, OptionName } from "./options.ts";
import { plannerNotice } from "./providers.ts";
import { usageError } from "./cli-failure.ts";

/** The agents that a server has, how it authenticates requests, and what it gives to their tools. */
export interface ServedAgents {
  readonly agents: readonly Agent<unknown>[];
  readonly authorize?: Authorize;
  readonly context?: MakeContext;
  /** The users of the file of `--auth`. */
  readonly auth?: AuthFile;
  /** What the user has to know about the agents. */
  readonly notice?: string;
}

/** The agents of a server, and the users of the file of `--auth`. Throws `CliFailure`. */
export async function servedBy(options: Options, host: CliHost): Promise<ServedAgents> {
  const file = options.auth;
  const auth = file === undefined ? undefined : readAuthFile(file, host.cwd);
  const served = await servedAgents(options, host);
  if (auth === undefined) return served;
  if (served.authorize === undefined) return { ...served, auth, authorize: auth.authorize };
  throw usageError(
    `--auth cannot be used with ${options.agent}, which exports authorize.`,
    "Leave out one of them.",
  );
}

/** Makes the context of a session for the tools and handlers that need one. */
type MakeContext = NonNullable<AgentServerOptions["context"]>;

/** An agent of a module of the user, with what its tools need. */
export interface ModuleAgent {
  readonly agent: Agent<unknown>;
  readonly context?: object | undefined;
}

/**
 * The agent of the module of `--agent` that runs a session: the one that the session was `recorded` with, or the only one. Throws
 * `CliFailure`.
 */
export async function agentOfModule(
  options: Options,
  host: CliHost,
  id: string,
  recorded?: string,
): Promise<ModuleAgent> {
  const { agents, context } = await servedAgents(options, host);
  const [agent, ...others] = agents.filter(({ name }) => recorded === undefined || name === recorded);
  const names = agents.map(({ name }) => `"${name}"`).join(", ");
  if (agent === undefined) {
    const message = `The session ${id} belongs to the agent "${recorded}", and ${options.agent} exports ${names}.`;
    throw usageError(message, "Name its module with --agent.");
  }
  if (others.length > 0) {
    const message = `${options.agent} exports several agents: ${names}.`;
    throw usageError(message, "A new session needs a module that exports one.");
  }
  return { agent, context: await context?.(host.user, { id, agent: agent.name, user: null }) };
}

/** The agents of the module of `--agent`; otherwise the one that the other options describe. Throws `CliFailure`. */
async function servedAgents(options: Options, host: CliHost): Promise<ServedAgents> {
  const file = options.agent;
  if (file === undefined) {
    const parts = { ...chooseLlm(options, host.env), mcpTools: [] };
    const agents = [await optionsToAgent(options, parts, host)];
    return parts.provider.needsModel ? { agents } : { agents, notice: plannerNotice };
  }
  const useless = ([...describingOptions, "mcp", "mcp-config"] as const).find(
    (name) => options[name] !== undefined,
  );
  if (useless !== undefined)
    throw usageError(`--${useless} cannot be used with --agent.`, "The module defines its agents.");
  const { authorize, context, ...others } = await loadModule(
    file,
    host.cwd,
    "--agent needs a module that exports agents.",
  );
  const agents = agentsIn(others, file);
  const unused = Object.entries(optionOfExport).find(([name]) => name in others);
  if (unused !== undefined)
    throw usageError(`${unused[0]} of ${file} is not used.`, `Name them with --${unused[1]}.`);
  if (authorize !== undefined && !isAuthorize(authorize))
    throw usageError(`authorize of ${file} must be a function.`, "It returns { user }, or undefined.");
  const makesContext = isMakeContext(context);
  if (!makesContext && agents.some(needsContext)) {
    throw usageError(
      `An agent of ${file} needs a context.`,
      "Export a function context that takes (user, session) and returns an object.",
    );
  }
  return {
    agents,
    ...(authorize === undefined ? {} : { authorize }),
    ...(makesContext ? { context } : {}),
  };
}

/** What the options of a server are called in a module, where they have no effect. */
const optionOfExport: Readonly<Record<string, OptionName>> = {
  allowedHosts: "allow-host",
  allowedOrigins: "allow-origin",
};

/** What it returns is checked for each session. Other exports of this name are ignored. */
const isMakeContext = (value: unknown): value is MakeContext => typeof value === "function";

/** What it returns is checked for each request. */
const isAuthorize = (value: unknown): value is Authorize => typeof value === "function";
