import { defineAgent, type Agent, type AgentState, type Tool } from "@moora/agent";
import { schemaCheckOf } from "@moora/agent-core-effects";
import type { ToolDefinition } from "@moora/agent-core-state-machine";
import { textToJson, type LlmCaller } from "@moora/llm";
import { planner } from "../../planner/planner.ts";

/** Who a session belongs to. */
export interface AgentName {
  readonly name: string;
  readonly version: string;
}

/** Stands for the agent of a session where nothing of it runs: to read along, and to post to whoever runs it. */
export const standInAgent = (name: AgentName): Agent => defineAgent({ llm: planner(), ...name });

/**
 * The agent of a recorded session with another model. Throws `BuildError` for one that has states or predicates of its
 * own: their code is not in the record.
 */
export const recordedAgent = (
  name: AgentName,
  { config, tools }: Pick<AgentState, "config" | "tools">,
  llm: LlmCaller,
): Agent => defineAgent({ llm, ...name, config, tools: standInTools(tools) });

const standInTools = (tools: AgentState["tools"]): readonly Tool[] =>
  Object.entries(tools).map(([name, definition]) => ({
    name,
    definition,
    check: (parameters) => argumentsProblem(parameters, definition),
    run: () => ({ isSuccess: false, error: "This tool is not here.", code: "not-run" }),
  }));

/** What is wrong with arguments, by what the record knows of their tool. Undefined when they can be used. */
export function argumentsProblem(
  parameters: string,
  { schema }: Pick<ToolDefinition, "schema">,
): ReturnType<Tool["check"]> {
  const value = textToJson(parameters);
  if (value === undefined) return "The arguments are no JSON.";
  const checked = schemaCheckOf(JSON.parse(schema), undefined).check(value);
  const wordsOf = (found: Awaited<typeof checked>): string | undefined =>
    found.ok ? undefined : found.problem;
  return checked instanceof Promise ? checked.then(wordsOf) : wordsOf(checked);
}
