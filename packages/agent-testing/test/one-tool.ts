import type { InitialAgentOptions, ToolDefinition } from "@moora/agent-core-state-machine";
import { callsMade, givenAgent } from "../src/index.ts";

/** The first model call of a conversation. */
export const plan = "plan/1/1/1";

export const tool = (more: Partial<ToolDefinition> = {}): ToolDefinition => ({
  description: "A tool.",
  schema: '{"type":"object"}',
  ...more,
});

/** Transcripts of an agent with one tool, named `work`. */
export const withTool = (
  more: Partial<ToolDefinition>,
  config: InitialAgentOptions["config"] = {},
): ReturnType<typeof givenAgent> => givenAgent({ config, tools: { work: tool(more) } });

/** The model calls it once. */
export const oneCall: ReturnType<typeof callsMade> = callsMade(plan, { call_1: { name: "work" } });
