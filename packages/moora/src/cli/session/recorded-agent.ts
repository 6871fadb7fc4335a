import { defineAgent, type Agent, type AgentState, type Tool } from "@moora/agent";
import { isPromise, schemaCheckOf } from "@moora/agent-core-effects";
import type { ToolDefinition } from "@moora/agent-core-state-machine";
import type { LlmCaller } from "@moora/llm";
import { textToJson } from "@moora/llm/internal";
import { planner } from "../../planner/planner.ts";

/** The agent that a session belongs to. */
export interface AgentName {
  readonly name: string;
  readonly version: string;
}

/** An agent of the same name without its tools, to read a session or to post to its owner. */
export const standInAgent = (name: AgentName): Agent => defineAgent({ llm: planner(), ...name });

/**
 * The agent of a recorded session with another model. Throws `BuildError` for an agent with custom states or predicates:
 * their code is not in the log.
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
    run: () => ({ isSuccess: false, error: "This tool is not loaded.", code: "not-run" }),
  }));

/** What is wrong with arguments, by the recorded definition of their tool. Undefined when they are valid. */
export function argumentsProblem(
  parameters: string,
  { schema }: Pick<ToolDefinition, "schema">,
): ReturnType<Tool["check"]> {
  const value = textToJson(parameters);
  if (value === undefined) return "The arguments are not JSON.";
  const checked = schemaCheckOf(JSON.parse(schema), undefined).check(value);
  const wordsOf = (found: Awaited<typeof checked>): string | undefined =>
    found.ok ? undefined : found.problem;
  return isPromise(checked) ? checked.then(wordsOf) : wordsOf(checked);
}
