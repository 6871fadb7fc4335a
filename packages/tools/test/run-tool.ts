import type { Tool, ToolContext, ToolOutcome } from "@moora/agent-core-effects";

export const aloneContext = (signal: AbortSignal = new AbortController().signal): ToolContext => ({
  toolCallId: "call_1",
  idempotencyKey: "1",
  attempt: 1,
  signal,
  progress: () => undefined,
});

/** One call of a tool, by itself. */
export const runTool = async (tool: Tool, input: object, signal?: AbortSignal): Promise<ToolOutcome> =>
  await tool.run(JSON.stringify(input), aloneContext(signal));

/** What the model would read, whether it went well or not. */
export const textOf = (outcome: ToolOutcome): string => (outcome.isSuccess ? outcome.content : outcome.error);
