import {
  agentTool,
  askHuman,
  defineAgent,
  defineTeam,
  defineTool,
  type Agent,
  type AgentToolOptions,
  type Tool,
  type ToolOptions,
} from "@moora/agent";
import { MockLlmCaller } from "@moora/llm/testing";

const llm = new MockLlmCaller([]);

const pay = (options: Partial<ToolOptions> = {}): Tool =>
  defineTool({
    name: "pay",
    description: "Pays a bill.",
    input: { type: "object" },
    execute: () => "Paid.",
    ...options,
  });

/** An agent that calls another one as its tool. */
const callerOf = (agent: Agent, options: Partial<AgentToolOptions> = {}): Agent =>
  defineAgent({
    name: "lead",
    llm,
    tools: [agentTool(agent, { name: "delegate", description: "Delegates a task.", ...options })],
  });

const clerk = (tool: Tool, config: Parameters<typeof defineAgent>[0]["config"] = {}): Agent =>
  defineAgent({ name: "clerk", llm, tools: [tool], config });

const asking = clerk(pay({ approval: "always" }));

/** Agents with a sub-agent that asks a person, which no host without sessions for sub-agents can run. */
export const agentsWhoseSubAgentAsks: readonly (readonly [what: string, agent: Agent, tool: string])[] = [
  ["whose sub-agent has a tool with an approval", callerOf(asking), "pay"],
  ["whose sub-agent asks about all calls", callerOf(clerk(pay(), { approval: { policy: "always" } })), "pay"],
  [
    "whose sub-agent asks about calls of a high risk",
    callerOf(clerk(pay({ risk: "high" }), { approval: { policy: { above: "medium" } } })),
    "pay",
  ],
  [
    "whose sub-agent asks about this tool",
    callerOf(clerk(pay(), { approval: { policy: { tools: ["pay"] } } })),
    "pay",
  ],
  ["whose sub-agent asks what became of a call", callerOf(clerk(pay({ onUnknown: "ask" }))), "pay"],
  ["whose sub-agent asks questions", callerOf(clerk(askHuman({ name: "ask_user" }))), "ask_user"],
  ["whose sub-agent calls one that asks", callerOf(callerOf(asking)), "pay"],
  [
    "with a team whose sub-agent asks",
    defineTeam({ agents: { lead: { agent: callerOf(asking), description: "Leads." } }, start: "lead" }),
    "pay",
  ],
];

/** Agents with sub-agents that ask nothing, or whose questions are answered without a reviewer. */
export const agentsWhoseSubAgentsAskNothing: readonly (readonly [what: string, agent: Agent])[] = [
  ["whose sub-agent has a tool without an approval", callerOf(clerk(pay()))],
  ["whose tool asks, and no sub-agent", clerk(pay({ approval: "always" }))],
  ["whose sub-agent has onApproval", callerOf(asking, { onApproval: () => "approve" })],
  [
    "whose sub-agent with onApproval calls one that asks",
    callerOf(callerOf(asking), { onApproval: () => "approve" }),
  ],
];

/** What a host says of the first of these agents. */
export const refusalOfSubAgent = (host: string, tool: string): string =>
  `The sub-agent "clerk" asks a person about its tool ${tool}, and on this host no reviewer can answer a sub-agent. ` +
  `Give onApproval to agentTool, or let the agent of ${host} call ${tool} itself.`;
