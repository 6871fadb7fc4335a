import type { Tool, ToolContext, ToolOutcome } from "../../src/index.ts";

/** A context for a tool that is run without any agent. */
export const alone = (more: Partial<ToolContext> = {}): ToolContext => ({
  toolCallId: "call_1",
  idempotencyKey: "session/1",
  attempt: 1,
  signal: new AbortController().signal,
  progress: () => undefined,
  ...more,
});

export const runAlone = async (tool: Tool, input: unknown): Promise<ToolOutcome> =>
  await tool.run(typeof input === "string" ? input : JSON.stringify(input), alone());
