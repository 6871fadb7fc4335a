import type { Tool } from "@moora/agent-core-effects";
import { refuse } from "@moora/agent-core-effects/internal";
import { needsHuman } from "@moora/agent-core-state-machine/internal";
import type { AgentToolOptions } from "./agent-tool.ts";
import { initialStateOf, type Agent } from "./define-agent.ts";

/** What `agentTool` makes a tool of. */
export interface CalledAgent {
  readonly agent: Agent<unknown>;
  /** Its `onApproval` answers the questions of the agent, and of all sub-agents below it. */
  readonly options: AgentToolOptions;
}

const calledAgents = new WeakMap<Tool, CalledAgent>();

/** Records which agent a tool calls. */
export const registerCalledAgent = (tool: Tool, called: CalledAgent): void =>
  void calledAgents.set(tool, called);

/** The agent that a tool calls; undefined for a tool that `agentTool` has not made. */
export const calledAgentOf = (tool: Tool): CalledAgent | undefined => calledAgents.get(tool);

/** A tool of a sub-agent whose calls may ask a person. */
interface AskingTool {
  readonly agent: string;
  readonly tool: string;
}

/**
 * Throws `BuildError` for an agent with a sub-agent that asks a person about calls of one of its tools, by its configuration, where no
 * `onApproval` answers. For hosts that run sub-agents without a session, which no reviewer can reach. `host` is the function that was
 * called. What a tool asks in the middle of its call (`toolAsks`) is not known here.
 */
export function checkSubAgentQuestions(host: string, agent: Agent<unknown>): void {
  const found = askingToolBelow(agent, new Set());
  if (found === undefined) return;
  refuse(
    `The sub-agent "${found.agent}" asks a person about its tool ${found.tool}, and on this host no reviewer can answer a sub-agent. ` +
      `Give onApproval to agentTool, or let the agent of ${host} call ${found.tool} itself.`,
  );
}

/** The first tool of a sub-agent, at any depth, whose question no `onApproval` answers. */
function askingToolBelow(agent: Agent<unknown>, seen: Set<Agent<unknown>>): AskingTool | undefined {
  if (seen.has(agent)) return undefined;
  seen.add(agent);
  for (const member of membersOf(agent)) {
    for (const tool of member.parts.tools.values()) {
      const called = calledAgents.get(tool);
      if (called === undefined || called.options.onApproval !== undefined) continue;
      const found = askingToolOf(called.agent) ?? askingToolBelow(called.agent, seen);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** The first tool of an agent whose calls may ask a person: before they run, or after they were interrupted. */
function askingToolOf(agent: Agent<unknown>): AskingTool | undefined {
  for (const member of membersOf(agent)) {
    const state = initialStateOf(member);
    for (const [name, { onUnknown }] of Object.entries(member.tools))
      if (onUnknown === "ask" || needsHuman(state, { name })) return { agent: member.name, tool: name };
  }
  return undefined;
}

const membersOf = (agent: Agent<unknown>): readonly Agent<unknown>[] =>
  agent.team === undefined ? [agent] : [...agent.team.agents.values()];
