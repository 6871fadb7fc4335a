import type { Agent } from "@moora/agent";
import {
  checkAgent,
  checkOptions,
  refuse,
  shownValue,
  type OptionForms,
} from "@moora/agent-core-effects/internal";

/** An agent as a tool of a server. */
export interface ServedAgent {
  readonly agent: Agent<unknown>;
  /** The description of the tool: what the agent does, and when to give it a task. Default: a sentence with its name. */
  readonly description?: string;
}

const forms: OptionForms<ServedAgent> = { agent: "object", description: "string" };

/** The agents by the names of their tools. Throws `BuildError` for none, and for a name that is invalid or used twice. */
export function servedAgents(
  agents: readonly (Agent<unknown> | ServedAgent)[],
): ReadonlyMap<string, Required<ServedAgent>> {
  if (!Array.isArray(agents) || agents.length === 0)
    refuse(`mcpServer needs a list of agents, got ${shownValue(agents)}.`);
  const served = new Map<string, Required<ServedAgent>>();
  for (const [index, entry] of agents.entries()) {
    const { agent, description } = servedAgent(entry, `agents[${index}] of mcpServer`);
    const { name } = agent;
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
      refuse(
        `The name of an agent that is a tool must have 1 to 64 letters, digits, "_" or "-", got ${shownValue(name)}.`,
      );
    }
    if (served.has(name)) refuse(`Two agents have the name "${name}". Give each one a name of its own.`);
    served.set(name, {
      agent,
      description: description ?? `Gives the agent ${name} a task, and returns its answer.`,
    });
  }
  return served;
}

/** Throws `BuildError` for a value that is not an agent, with or without a description. */
function servedAgent(entry: Agent<unknown> | ServedAgent, place: string): ServedAgent {
  const isServed = typeof entry === "object" && entry !== null && "agent" in entry;
  if (isServed) checkOptions(place, entry, forms);
  const served = isServed ? entry : { agent: entry };
  checkAgent(place, served.agent);
  return served;
}
