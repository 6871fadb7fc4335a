import type { AgentState } from "@moora/agent-core-state-machine";
import { isBlacklisted } from "@moora/agent-core-state-machine/internal";
import type { LlmTool } from "@moora/llm";
import { jsonObjectOf } from "./json-object.ts";

interface OfferedTools {
  readonly blacklist: readonly string[];
  readonly tools: readonly LlmTool[];
}

/** A cache by the tools of a state: they rarely change, and their schemas are long. */
const memo = new WeakMap<AgentState["tools"], OfferedTools>();

/**
 * The tools that the model is offered: all except the blacklisted ones, in the order in which they were given. They change
 * only with the configuration, so that the beginning of requests stays the same. An unreadable schema allows any object.
 */
export function toolsAt({ tools, config }: AgentState): readonly LlmTool[] {
  const { blacklist } = config.toolCalls;
  const known = memo.get(tools);
  if (known !== undefined && known.blacklist === blacklist) return known.tools;
  const offered = Object.entries(tools)
    .filter(([name]) => !isBlacklisted({ config, tools }, { name }))
    .map(([name, { description, schema }]) => ({
      name,
      description,
      schema: jsonObjectOf(schema) ?? { type: "object" },
    }));
  memo.set(tools, { blacklist, tools: offered });
  return offered;
}
