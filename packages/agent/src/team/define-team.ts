import type { AgentConfig, AgentConfigChange } from "@moora/agent-core-state-machine";
import type { NeedsContext, Tool, WithNeed } from "@moora/agent-core-effects";
import { refuse, shownValue } from "@moora/agent-core-effects/internal";
import { handOffToolName } from "@moora/agent-core-state-machine/internal";
import { checkIsAgent } from "../check-arguments.ts";
import { checkOptions, isObject, type OptionForms } from "../check-options.ts";
import type { Agent } from "../define-agent.ts";
import { isSameJson } from "../durable/canonical-json.ts";
import { handOffTool } from "./hand-off-tool.ts";
import type { Team } from "./member-at.ts";

/** One agent of a team. */
export interface TeamMember<Answer = string, Data = unknown, Context = unknown> {
  readonly agent: Agent<Answer, Data> & NeedsContext<Context>;
  /** What the agent is for. The models of the other agents read it. */
  readonly description: string;
  /** The names of the agents to which this one can hand the conversation. Default: all others. */
  readonly handsOffTo?: readonly string[];
}

/**
 * The options of `defineTeam`. `Answer` and `Data` are those of every agent of the team, `Context` is one that every agent accepts.
 */
export interface TeamOptions<Answer = string, Data = unknown, Context = unknown> {
  /** The agents by name. */
  readonly agents: Readonly<Record<string, TeamMember<Answer, Data, Context>>>;
  /** The name of the agent that a new session starts with. */
  readonly start: string;
  /** The most handoffs for one message of the user. A further one fails, and the model reads why. Default: 10. */
  readonly maxHandoffs?: number;
  /** Whether a person is asked before a handoff, as for tools. Default: the approval policy of the agent decides. */
  readonly approval?: "always" | "never";
  /** The name of the team in the header of every log; an agent with another name cannot open the session. Default: "team". */
  readonly name?: string;
  /** The release of your team. A log records it each time the session is opened. Default: "0". */
  readonly version?: string;
}

type AnyMembers = Readonly<Record<string, { readonly agent: { readonly "~tools"?: Tool } }>>;

/** The tools of all agents of a team. */
type ToolsOfMembers<Of extends AnyMembers> = NonNullable<Of[keyof Of]["agent"]["~tools"]>;

const forms: OptionForms<TeamOptions> = {
  agents: "object",
  start: "string",
  maxHandoffs: "number",
  approval: "any",
  name: "string",
  version: "string",
};

const memberForms: OptionForms<TeamMember> = { agent: "object", description: "string", handsOffTo: "any" };

/**
 * Defines a team: agents that hand one conversation to each other. It is an agent itself, for every function that takes one. The
 * model of each agent has a tool, `hand_off`; the others then see the messages and the answers, but not its tool calls. All
 * agents have the same `answer`, the same `data`, and the budget and prices of the one that starts. Throws `BuildError` for
 * agents that do not, a name that is not one of `agents`, a description that is missing, and a tool with the name `hand_off`.
 */
export function defineTeam<
  Answer,
  Data,
  Context = unknown,
  Named extends AnyMembers = Readonly<Record<string, TeamMember<Answer, Data, Context>>>,
>(
  options: TeamOptions<Answer, Data, Context> & { readonly agents: Named },
): WithNeed<Agent<Answer, Data, ToolsOfMembers<NoInfer<Named>>>, NoInfer<Context>> {
  // The context and the tools exist only for types.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return teamOf(options as TeamOptions<Answer, Data>) as WithNeed<
    Agent<Answer, Data, ToolsOfMembers<NoInfer<Named>>>,
    NoInfer<Context>
  >;
}

function teamOf<Answer, Data>(options: TeamOptions<Answer, Data>): Agent<Answer, Data> {
  checkOptions("defineTeam", options, forms);
  const { agents: members, start, approval, maxHandoffs = 10, name = "team", version = "0" } = options;
  if (!isObject(members))
    return refuse(`agents must be an object of agents by name, got ${shownValue(members)}.`);
  if (!Number.isSafeInteger(maxHandoffs) || maxHandoffs < 1)
    refuse(`maxHandoffs must be a positive integer, got ${shownValue(maxHandoffs)}.`);
  const first = Object.hasOwn(members, start) ? members[start] : undefined;
  if (first === undefined)
    return refuse(`start must be one of ${shownNames(members)}, got ${shownValue(start)}.`);
  for (const [memberName, member] of Object.entries(members)) checkMember(memberName, member, members);
  for (const [memberName, { agent }] of Object.entries(members)) checkFits(memberName, agent, first.agent);
  const agents = new Map<string, Agent<Answer, Data>>();
  // What an agent does not set stays that of the one before.
  const isSet = Object.values(members).some(({ agent }) => agent.config.toolSearch !== undefined);
  const replaced = isSet ? { toolSearch: false } : {};
  for (const [memberName, member] of Object.entries(members)) {
    const targets = targetsOf(memberName, member, members);
    const tool = handOffTool({
      ...(approval === undefined ? {} : { approval }),
      descriptions: new Map(targets.map((target) => [target, members[target]?.description ?? ""])),
      handoffTo(target) {
        const { config, tools } = agents.get(target) ?? first.agent;
        return { config: { ...replaced, ...withoutBudget(config) }, tools, maxPerLoop: maxHandoffs };
      },
    });
    agents.set(memberName, {
      ...(targets.length === 0 ? member.agent : withTool(member.agent, tool)),
      name,
      version,
    });
  }
  const team: Team = { start, agents };
  return { ...(agents.get(start) ?? first.agent), team };
}

const withTool = <Of extends Agent<unknown>>(agent: Of, tool: Tool): Of => ({
  ...agent,
  tools: { ...agent.tools, [tool.name]: tool.definition },
  parts: { ...agent.parts, tools: new Map([...agent.parts.tools, [tool.name, tool]]) },
});

/** What a handoff changes: the budget and the prices stay those of the session. */
function withoutBudget(config: AgentConfig): AgentConfigChange {
  const own: Record<string, unknown> = { ...config };
  for (const field of sharedFields) delete own[field];
  return own;
}

/** The fields of a configuration that are those of the whole team. */
const sharedFields = ["budget", "prices"] as const;

type Members = Readonly<Record<string, TeamMember<unknown>>>;

const shownNames = (members: object): string =>
  Object.keys(members).map(shownValue).join(", ") || "the agents";

const targetsOf = (name: string, { handsOffTo }: TeamMember<unknown>, members: Members): readonly string[] =>
  handsOffTo ?? Object.keys(members).filter((other) => other !== name);

function checkMember(name: string, member: unknown, members: Members): void {
  checkOptions(`agents.${name} of defineTeam`, member, memberForms);
  if (!isObject(member)) return;
  const { agent, description, handsOffTo } = member;
  checkIsAgent(`agents.${name} of defineTeam`, agent);
  if (name === "" || name.length > 200)
    refuse(`The name of an agent must have 1 to 200 characters, got ${shownValue(name)}.`);
  if (typeof description !== "string" || description.trim() === "")
    refuse(`agents.${name} has no description. Say what the agent is for: the other models read it.`);
  if (handsOffTo === undefined) return;
  if (!Array.isArray(handsOffTo))
    return refuse(`agents.${name}.handsOffTo must be an array of names, got ${shownValue(handsOffTo)}.`);
  for (const target of handsOffTo) {
    if (typeof target === "string" && target !== name && Object.hasOwn(members, target)) continue;
    refuse(
      `agents.${name}.handsOffTo must have names of other agents of the team, got ${shownValue(target)}.`,
    );
  }
}

/** Throws `BuildError` for an agent that cannot continue a conversation of the first one. */
function checkFits(name: string, agent: Agent<unknown>, first: Agent<unknown>): void {
  const { config, parts, team } = agent;
  if (team !== undefined)
    refuse(`agents.${name} is a team. Give its agents, or make it a tool with agentTool.`);
  if (parts.tools.has(handOffToolName))
    refuse(`agents.${name} has a tool with the name "${handOffToolName}", which is reserved in a team.`);
  const differs = (what: string): never =>
    refuse(`agents.${name} has ${what} than the agent that starts. Give all agents of a team the same.`);
  if (config.answerSchema !== first.config.answerSchema) differs("another answer");
  if (parts.data !== first.parts.data) differs("other data");
  for (const field of sharedFields) {
    const isOwn = Object.keys(config[field]).length > 0 && !isSameJson(config[field], first.config[field]);
    if (isOwn)
      refuse(`agents.${name} has its own ${field}. Give it to the agent that starts: a team shares it.`);
  }
}
