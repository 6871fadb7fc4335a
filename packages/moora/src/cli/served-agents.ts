import type { Agent } from "@moora/agent";
import type { Authorize } from "@moora/server";
import { chooseLlm } from "./choose-llm.ts";
import type { CliHost } from "./cli-host.ts";
import { loadModule } from "./load-module.ts";
import { agentsIn } from "./module-to-agents.ts";
import { optionsToAgent } from "./options-to-agent.ts";
import type { GivenOptions, OptionName } from "./options.ts";
import { UsageError } from "./usage-error.ts";

/** The agents that a server has, and how it authenticates requests. */
export interface ServedAgents {
  readonly agents: readonly Agent<unknown>[];
  readonly authorize?: Authorize;
}

/** The options that describe the agent of the command line. `--agent` replaces them. */
export const describingOptions: readonly OptionName[] = [
  "provider",
  "model",
  "base-url",
  "timeout",
  "system",
  "root",
  "allow-fetch",
  "tools",
  "approve",
  "max-steps",
  "max-tokens",
];

/** The agents of the module of `--agent`; otherwise the one that the other options describe. Throws `UsageError`. */
export async function servedAgents(options: GivenOptions, host: CliHost): Promise<ServedAgents> {
  const file = options.text("agent");
  if (file === undefined) {
    const parts = { ...chooseLlm(options, host.env), mcpTools: [] };
    return { agents: [await optionsToAgent(options, parts, host)] };
  }
  const useless = describingOptions.find((name) => options.has(name));
  if (useless !== undefined)
    throw new UsageError(`--${useless} cannot be used with --agent.`, "The module defines its agents.");
  const { authorize, ...others } = await loadModule(
    file,
    host.cwd,
    "--agent needs a module that exports agents.",
  );
  const agents = agentsIn(others, file);
  if (authorize === undefined) return { agents };
  if (isAuthorize(authorize)) return { agents, authorize };
  throw new UsageError(`authorize of ${file} must be a function.`, "It returns { user }, or undefined.");
}

/** What it returns is checked for each request. */
const isAuthorize = (value: unknown): value is Authorize => typeof value === "function";
