import { truncated } from "../truncate.ts";
import type { ToolOutcome } from "./tool-reply.ts";

const maxNames = 20;

/** The outcome of a call of an unknown tool. The error lists the tools of the agent; `search` is the tool that finds them. */
export function unknownTool(name: string, tools: ReadonlyMap<string, unknown>, search?: string): ToolOutcome {
  const names = [...tools.keys()];
  const more = names.length > maxNames ? `, and ${names.length - maxNames} more` : "";
  const known =
    names.length === 0 ? "There are no tools." : `There are: ${names.slice(0, maxNames).join(", ")}${more}.`;
  return {
    isSuccess: false,
    error: `There is no tool ${truncated(name, 100)}. ${search === undefined ? known : `Find tools with ${search}.`}`,
    code: "unknown-tool",
  };
}
