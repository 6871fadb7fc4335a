import { defineTool, type Tool, type ToolContext } from "@moora/agent";
import * as z from "zod";

/** A tool that takes any object. */
export const toolOf = (
  name: string,
  execute: (input: Readonly<Record<string, unknown>>, context: ToolContext) => unknown = () => "ok",
  more: Pick<
    Tool["definition"],
    "approval" | "risk" | "replay" | "onUnknown" | "timeoutMs" | "retries" | "maxParallel"
  > = {},
): Tool =>
  defineTool({
    name,
    description: `Does ${name}.`,
    input: z.record(z.string(), z.unknown()),
    execute,
    ...more,
  });
