import type { Agent, AgentConfigChange, Tool } from "@moora/agent";
import { calledAgentOf } from "@moora/agent/internal";
import { defineTool } from "@moora/agent-core-effects";
import type { ToolDefinition } from "@moora/agent-core-state-machine";
import { changeConfig } from "@moora/agent-core-state-machine/internal";
import type { JsonObject } from "@moora/llm";
import type { Choose } from "../choose.ts";
import { oneOf } from "./choices.ts";

type ToolChange = "tool-removed" | "tool-added" | "tool-renamed" | "schema" | "schema-upcast" | "description";

type ConfigChange =
  | "prompt"
  | "approval-tightened"
  | "approval-loosened"
  | "blacklist"
  | "budget"
  | "limits"
  | "model";

/** How the next release of an agent differs from the one before. */
export type Release =
  | { readonly change: ToolChange; readonly tool: string }
  | {
      readonly change: "risk" | "tool-approval" | "replay";
      readonly tool: string;
      /** Fields of the tool's definition. */
      readonly fields: Pick<ToolDefinition, "risk" | "approval" | "replay">;
    }
  | { readonly change: ConfigChange; readonly config: AgentConfigChange }
  /** Back to the agent that the simulation was given. */
  | { readonly change: "rollback" };

type Draw<Of> = (choose: Choose, agent: Agent<unknown>) => Of;

/** The tools that releases change: all but those that call sub-agents. */
const plainTools = ({ parts }: Agent<unknown>): readonly string[] =>
  [...parts.tools].flatMap(([name, tool]) => (calledAgentOf(tool) === undefined ? [name] : []));

const anyTool: Draw<string> = (choose, agent) => oneOf(choose, plainTools(agent));

/**
 * Policies that are at most as loose as the one that its author chose for a tool: a release that lets a payment run twice
 * breaks the promises of the agent by itself. A rollback loosens what a release has tightened.
 */
const tighterPolicies = { once: [], keyed: ["once"], safe: ["keyed", "once"] } as const;

const tighterPoliciesOf = (
  agent: Agent<unknown>,
): readonly { readonly tool: string; readonly replay: "keyed" | "once" }[] =>
  plainTools(agent).flatMap((tool) =>
    tighterPolicies[agent.tools[tool]?.replay ?? "once"].map((replay) => ({ tool, replay })),
  );

const ofTool =
  (change: ToolChange): Draw<Release> =>
  (...given) => ({ change, tool: anyTool(...given) });

const ofConfig =
  (change: ConfigChange, draw: Draw<AgentConfigChange>): Draw<Release> =>
  (...given) => ({ change, config: draw(...given) });

/** Every way in which a release can differ. */
const draws: Readonly<Record<Release["change"], Draw<Release>>> = {
  "tool-removed": ofTool("tool-removed"),
  "tool-added": (choose) => ({ change: "tool-added", tool: `added_${1 + choose(3)}` }),
  "tool-renamed": ofTool("tool-renamed"),
  schema: ofTool("schema"),
  "schema-upcast": ofTool("schema-upcast"),
  description: ofTool("description"),
  risk: (choose, agent) => ({
    change: "risk",
    tool: anyTool(choose, agent),
    fields: { risk: oneOf(choose, ["critical", "high", "low"]) },
  }),
  "tool-approval": (choose, agent) => ({
    change: "tool-approval",
    tool: anyTool(choose, agent),
    fields: { approval: oneOf(choose, ["always", "never"]) },
  }),
  replay: (choose, agent) => {
    const { tool, replay } = oneOf(choose, tighterPoliciesOf(agent));
    return { change: "replay", tool, fields: { replay } };
  },
  prompt: ofConfig("prompt", (choose) => ({ systemPrompt: `You are release ${choose(1_000)}.` })),
  "approval-tightened": ofConfig("approval-tightened", (choose) => ({
    approval: { policy: "always", ...(choose(2) === 0 ? { expiresAfterMs: 60_000 } : {}) },
  })),
  "approval-loosened": ofConfig("approval-loosened", (_, { config }) => ({
    approval: { ...config.approval, policy: "never" },
  })),
  blacklist: ofConfig("blacklist", (choose, agent) => ({
    toolCalls: { blacklist: plainTools(agent).length === 0 ? [] : [anyTool(choose, agent)] },
  })),
  budget: ofConfig("budget", (choose) => ({ budget: { maxTokens: 200 + choose(2_000) } })),
  limits: ofConfig("limits", (choose) =>
    oneOf<() => AgentConfigChange>(choose, [
      () => ({ limits: { maxSteps: 1 + choose(6) } }),
      () => ({ toolCalls: { maxParallel: 1 + choose(3) } }),
      () => ({ toolCalls: { parallel: false } }),
      () => ({ retries: { maxToolAttempts: 1 + choose(3) } }),
      () => ({ retries: { maxLlmAttempts: 2 + choose(3) } }),
    ])(),
  ),
  model: ofConfig("model", (choose) => ({ models: { default: `model-${choose(1_000)}` } })),
  rollback: () => ({ change: "rollback" }),
};

/** The names of the changes; `release:description` is the fault of one. */
export const releaseChanges: readonly string[] = Object.keys(draws);

const needsTool: ReadonlySet<string> = new Set([
  "tool-removed",
  "tool-renamed",
  "schema",
  "schema-upcast",
  "description",
  "risk",
  "tool-approval",
] satisfies Release["change"][]);

const isPossible = (change: string, agent: Agent<unknown>): boolean =>
  change === "replay"
    ? tighterPoliciesOf(agent).length > 0
    : !needsTool.has(change) || plainTools(agent).length > 0;

/** Draws the next release among the changes that the faults allow; undefined where none of them is possible. */
export function drawRelease(
  agent: Agent<unknown>,
  choose: Choose,
  faults: (name: string) => boolean,
): Release | undefined {
  const possible = Object.entries(draws).filter(
    ([change]) => faults(`release:${change}`) && isPossible(change, agent),
  );
  if (possible.length === 0) return undefined;
  const [, draw] = oneOf(choose, possible);
  return draw(choose, agent);
}

/** The agent after a release; undefined where the release changes a tool that the agent does not have. */
export function applyRelease(
  agent: Agent<unknown>,
  original: Agent<unknown>,
  release: Release,
): Agent<unknown> | undefined {
  if (release.change === "rollback") return original;
  if ("config" in release) return { ...agent, config: changeConfig(agent.config, release.config) };
  const tools = new Map(agent.parts.tools);
  const tool = tools.get(release.tool);
  if (release.change === "tool-added") tools.set(release.tool, addedTool(release.tool));
  else if (tool === undefined) return undefined;
  else if (release.change === "tool-removed") tools.delete(release.tool);
  else if (release.change === "tool-renamed") rename(tools, tool);
  else if (release.change === "schema") tools.set(release.tool, withNewSchema(tool, false));
  else if (release.change === "schema-upcast") tools.set(release.tool, withNewSchema(tool, true));
  else tools.set(release.tool, withFields(tool, release));
  return withTools(agent, tools);
}

const withTools = (agent: Agent<unknown>, tools: ReadonlyMap<string, Tool>): Agent<unknown> => ({
  ...agent,
  tools: Object.fromEntries([...tools].map(([name, { definition }]) => [name, definition])),
  parts: { ...agent.parts, tools },
});

const addedTool = (name: string): Tool =>
  defineTool({
    name,
    description: "A tool of a later release.",
    replay: "safe",
    input: { type: "object" },
    execute: () => "ok",
  });

/** Gives a tool a name that it never had; its calls continue under the new one. */
function rename(tools: Map<string, Tool>, tool: Tool): void {
  const { name, definition } = tool;
  const formerNames = [...(definition.formerNames ?? []), name];
  const next = `${formerNames[0]}_${formerNames.length + 1}`;
  if (tools.has(next)) return;
  tools.delete(name);
  tools.set(next, { ...tool, name: next, definition: { ...definition, formerNames } });
}

/** One more property that has to be given: calls that were made before do not fit, unless they are converted. */
function withNewSchema(tool: Tool, upcasts: boolean): Tool {
  const old: JsonObject = JSON.parse(tool.definition.schema);
  const properties = { ...objectIn(old["properties"]), confirmed: { type: "boolean" } };
  const required = [...new Set([...(Array.isArray(old["required"]) ? old["required"] : []), "confirmed"])];
  const input = { ...old, type: "object", properties, required };
  const { check, run, probe } = defineTool({
    name: tool.name,
    description: tool.definition.description,
    input,
    ...(upcasts ? { upcast: (former: JsonObject) => ({ ...former, confirmed: true }) } : {}),
    execute: (args, context) => {
      const { confirmed: _, ...rest } = objectIn(args);
      return tool.run(JSON.stringify(rest), context);
    },
    probe: () => "unknown",
  });
  const probed = tool.probe === undefined || probe === undefined ? {} : { probe };
  return {
    ...tool,
    ...probed,
    check,
    run,
    definition: { ...tool.definition, schema: JSON.stringify(input), upcasts },
  };
}

const objectIn = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {};

const withFields = (tool: Tool, release: Extract<Release, { readonly tool: string }>): Tool => ({
  ...tool,
  definition: {
    ...tool.definition,
    ...("fields" in release
      ? release.fields
      : { description: `${tool.definition.description} In other words.` }),
  },
});
