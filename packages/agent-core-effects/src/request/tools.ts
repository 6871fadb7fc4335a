import type { AgentState } from "@moora/agent-core-state-machine";
import type { LlmTool } from "@moora/llm";
import { jsonObjectOf } from "./json-object.ts";

interface OfferedTools {
  readonly blacklisted: readonly string[];
  readonly tools: readonly LlmTool[];
}

/** A memo beside the tools of a state: they seldom change, and their schemas are long. */
const memo = new WeakMap<AgentState["tools"], OfferedTools>();

/**
 * The tools that the model is offered, in the order they were given: all but the blacklisted ones. They change only with
 * the configuration, so that the beginning of a request stays the same. A schema that cannot be read allows any object.
 */
export function toolsAt({ tools, config: { blacklistedTools } }: AgentState): readonly LlmTool[] {
  const known = memo.get(tools);
  if (known !== undefined && known.blacklisted === blacklistedTools) return known.tools;
  const offered = Object.entries(tools)
    .filter(([name]) => !blacklistedTools.includes(name))
    .map(([name, { description, schema }]) => ({
      name,
      description,
      schema: jsonObjectOf(schema) ?? { type: "object" },
    }));
  memo.set(tools, { blacklisted: blacklistedTools, tools: offered });
  return offered;
}
