import { wording } from "@moora/agent-core-state-machine/internal";
import { truncated } from "../truncate.ts";
import type { ToolOutcome } from "./tool-reply.ts";

/** The outcome of a call of a tool that the agent does not have. */
export const unknownTool = (name: string, tools: ReadonlyMap<string, unknown>): ToolOutcome => ({
  isSuccess: false,
  error: wording.unknownTool(truncated(name, 100), [...tools.keys()]),
  code: "unknown-tool",
});
