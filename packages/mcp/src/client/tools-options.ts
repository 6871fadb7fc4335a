import { refuse, shownValue } from "@moora/agent-core-effects/internal";
import { checkCount, type OptionNames } from "../check-options.ts";
import type { McpTool } from "./mcp-client.ts";
import { checkServerName } from "./tool-name.ts";
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
   * Called for each tool that the agent does not have: its schema or its name cannot be used, it does not follow the protocol, or it
   * works only as a task of the protocol. Default: nothing.
   */
  readonly onSkipped?: (tool: SkippedTool) => void;
}

export const toolsOptionNames: OptionNames<McpToolsOptions> = {
  name: true,
  trust: true,
  rule: true,
  timeoutMs: true,
  maxResultBytes: true,
  onSkipped: true,
};

/** Throws `BuildError` for options with invalid values. */
export function checkToolsOptions(options: McpToolsOptions): void {
  checkServerName(options.name);
  checkCount("timeoutMs", options.timeoutMs);
  checkCount("maxResultBytes", options.maxResultBytes);
  for (const name of ["rule", "onSkipped"] as const) {
    const value: unknown = options[name];
    if (value !== undefined && typeof value !== "function")
      refuse(`${name} must be a function, got ${shownValue(value)}.`);
  }
}
