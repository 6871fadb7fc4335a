import type { Tool, ToolContext, ToolOutcome } from "@moora/agent";

/** A tool by its name. */
export function toolNamed(tools: readonly Tool[], name: string): Tool {
  const found = tools.find((tool) => tool.name === name);
  if (found === undefined)
    throw new Error(`Tool "${name}" not found: ${tools.map((tool) => tool.name).join()}`);
  return found;
}

/** Runs a tool as a runner does. */
export async function runTool(
  tools: readonly Tool[],
  name: string,
  input: object = {},
  context: Partial<ToolContext> = {},
): Promise<ToolOutcome> {
  return await toolNamed(tools, name).run(JSON.stringify(input), {
    toolCallId: "call_1",
    idempotencyKey: "session/call_1",
    attempt: 1,
    signal: new AbortController().signal,
    progress: () => undefined,
    ...context,
  });
}
