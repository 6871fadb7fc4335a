import type { ToolOptions } from "@moora/agent-core-effects";
import type { McpTool } from "./mcp-client.ts";

/** What an application decides about a tool of a server. A field that is not given has its default. */
export interface McpToolRule extends Pick<ToolOptions, "risk" | "approval" | "replay" | "timeoutMs"> {
  /** The name of the tool for the model. Default: the name of the server, `_`, and the name of the tool. */
  readonly name?: string;
  /** Whether the agent has the tool. Default: true. */
  readonly include?: boolean;
}

/**
 * The risk and the replay policy that annotations justify. A server that is not trusted can only raise the risk: what it
 * says of itself in its favor is not used.
 */
export function annotatedPolicy(
  { annotations = {} }: McpTool,
  trust: boolean,
): Required<Pick<McpToolRule, "risk" | "replay">> {
  const { readOnlyHint, destructiveHint, idempotentHint } = annotations;
  if (!trust) return { risk: destructiveHint === true ? "critical" : "high", replay: "once" };
  if (readOnlyHint === true) return { risk: "low", replay: "safe" };
  return {
    risk: destructiveHint === true ? "critical" : destructiveHint === false ? "medium" : "high",
    replay: idempotentHint === true ? "safe" : "once",
  };
}
