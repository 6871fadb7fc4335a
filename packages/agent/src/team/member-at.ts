import type { Tool } from "@moora/agent-core-effects";
import type { AgentState } from "@moora/agent-core-state-machine";
import type { Agent } from "../define-agent.ts";

/** The agents of a team by name, and the one that a new session starts with. */
export interface Team {
  readonly start: string;
  readonly agents: ReadonlyMap<string, Agent<unknown>>;
}

type Code = Pick<Agent<unknown>, "parts" | "runLimits" | "team">;

/** The agent of a team that has the conversation; for an agent that is not a team, itself. */
export const codeAt = (agent: Code, { activeAgent }: Pick<AgentState, "activeAgent">): Code =>
  activeAgent === undefined ? agent : (agent.team?.agents.get(activeAgent) ?? agent);

/**
 * The agent with the conversation, with the budget and the prices of its team; `toolSearch` is false where only the state has it.
 * Undefined if the team does not have this agent, or if the session is one of a team and the agent is not.
 */
export function memberAt(
  agent: Agent<unknown>,
  { activeAgent, config: { toolSearch } }: Pick<AgentState, "activeAgent" | "config">,
): Agent<unknown> | undefined {
  const { team, config } = agent;
  const member = activeAgent === undefined ? agent : team?.agents.get(activeAgent);
  if (member === undefined) return undefined;
  const replaced = toolSearch === undefined ? {} : { toolSearch: false };
  if (member === agent && (toolSearch === undefined || config.toolSearch !== undefined)) return agent;
  const { budget, prices } = config;
  return { ...member, config: { ...replaced, ...member.config, budget, prices } };
}

/** Who gets the conversation when a team opens a session of an agent that was not a team; empty for any other session. */
export const joinedTeam = (
  { team }: Pick<Agent<unknown>, "team">,
  { activeAgent }: Pick<AgentState, "activeAgent">,
): Pick<AgentState, "activeAgent"> =>
  activeAgent === undefined && team !== undefined ? { activeAgent: team.start } : {};

/** Why an agent cannot run a session in which this agent has the conversation. */
export const notAMember = ({ name, team }: Agent<unknown>, activeAgent: string): string =>
  team === undefined
    ? `The agent "${activeAgent}" of a team has this conversation, and "${name}" is not a team. Open it with defineTeam.`
    : `The agent "${activeAgent}" has this conversation, but is not an agent of the team "${name}". Add it to agents.`;

/** The agent with other tools in place of its own, by `replace`; those of all agents of a team. */
export function withTools<Of extends Agent<unknown>>(agent: Of, replace: (tool: Tool) => Tool): Of {
  const { team, parts } = agent;
  const tools = new Map([...parts.tools].map(([name, tool]) => [name, replace(tool)]));
  const changed = { ...agent, parts: { ...parts, tools } };
  if (team === undefined) return changed;
  const agents = new Map([...team.agents].map(([name, member]) => [name, withTools(member, replace)]));
  return { ...changed, team: { ...team, agents } };
}
