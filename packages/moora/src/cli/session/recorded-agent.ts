import { defineAgent, type Agent, type AgentState, type Tool } from "@moora/agent";
import { isPromise, schemaCheckOf } from "@moora/agent-core-effects/internal";
import type { ToolDefinition } from "@moora/agent-core-state-machine";
import type { LlmCaller } from "@moora/llm";
import { textToJson } from "@moora/llm/internal";
import { planner } from "@moora/planner";

/** The agent that a session belongs to. */
export interface AgentName {
  readonly name: string;
  readonly version: string;
}

/** An agent of the same name without its tools, which can read a session and post to its owner. */
export const agentWithoutTools = (name: AgentName): Agent => defineAgent({ llm: planner(), ...name });

/**
 * The agent of a recorded session with another model. Throws `BuildError` for an agent with custom states or predicates:
 * their code is not in the log.
 */
export const recordedAgent = (
  name: AgentName,
  { config, tools }: Pick<AgentState, "config" | "tools">,
  llm: LlmCaller,
): Agent => defineAgent({ llm, ...name, config, tools: recordedTools(tools) });

const recordedTools = (tools: AgentState["tools"]): readonly Tool[] =>
  Object.entries(tools).map(([name, definition]) => ({
    name,
    definition,
    check: (parameters) => argumentsProblem(parameters, definition),
    run: () => ({ isSuccess: false, error: "This tool is not loaded.", code: "not-run" }),
  }));

/** Why arguments do not fit the recorded definition of their tool. Undefined if they do. */
export function argumentsProblem(
  parameters: string,
  { schema }: Pick<ToolDefinition, "schema">,
): ReturnType<Tool["check"]> {
  const value = textToJson(parameters);
  if (value === undefined) return "The arguments are not JSON.";
  const checked = schemaCheckOf(JSON.parse(schema), undefined).check(value);
  const problemIn = (found: Awaited<typeof checked>): string | undefined =>
    found.ok ? undefined : found.problem;
  return isPromise(checked) ? checked.then(problemIn) : problemIn(checked);
}
