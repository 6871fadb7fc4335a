import type { AgentState } from "@moora/agent-core-state-machine";
import type { LlmTool } from "@moora/llm";
import { jsonObjectOf } from "./json-object.ts";

/** A memo beside the tools of a state: they seldom change, and their schemas are long. */
const memo = new WeakMap<AgentState["tools"], readonly LlmTool[]>();

/** The tools as the model sees them, in the order they were given. A schema that cannot be read allows any object. */
export function toolsAt({ tools }: AgentState): readonly LlmTool[] {
  const known = memo.get(tools);
  if (known !== undefined) return known;
  const made = Object.entries(tools).map(([name, { description, schema }]) => ({
    name,
    description,
    schema: jsonObjectOf(schema) ?? { type: "object" },
  }));
  memo.set(tools, made);
  return made;
}
