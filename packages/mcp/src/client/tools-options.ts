import type { OptionForms } from "@moora/agent-core-effects/internal";
import type { McpTool } from "./mcp-client.ts";
import type { McpToolRule } from "./tool-policy.ts";

/** A tool of a server that the agent does not have, and why. */
export interface SkippedTool {
  readonly name: string;
  readonly reason: string;
}

/** The options of `mcpTools` and `connectMcp` about tools. */
export interface McpToolsOptions {
  /**
   * The name of the server, with which the names of its tools begin: 1 to 32 letters, digits, `_` or `-`. Keep it the same:
   * sessions in a log refer to tools by name.
   */
  readonly name: string;
  /**
   * Whether to believe what the server says of its tools in their favor: then `readOnlyHint` gives the risk "low" and the replay
   * "safe", `idempotentHint` the replay "safe", `destructiveHint: false` the risk "medium". Otherwise every tool has the risk
   * "high" and the replay "once". `destructiveHint: true` gives the risk "critical" in any case. Default: false.
   */
  readonly trust?: boolean;
  /** Returns what the application decides about a tool; it takes precedence over annotations. Default: nothing. */
  readonly rule?: (tool: McpTool) => McpToolRule | undefined;
  /** Milliseconds that a call may take. Default: the runner's `toolTimeoutMs`. */
  readonly timeoutMs?: number;
  /** The maximum size of a result as JSON, in bytes. A larger one fails the call. Default: 4,194,304, which is 4 MiB. */
  readonly maxResultBytes?: number;
  /**
   * Called once for each tool that the agent does not have: its schema or its name cannot be used, it does not follow the protocol, or it
   * works only as a task of the protocol. Default: nothing.
   */
  readonly onSkipped?: (tool: SkippedTool) => void;
}

/** The form of each option. The name of the server has a check of its own. */
export const toolsForms: OptionForms<McpToolsOptions> = {
  name: "any",
  trust: "boolean",
  rule: "function",
  timeoutMs: "positiveInteger",
  maxResultBytes: "positiveInteger",
  onSkipped: "function",
};
