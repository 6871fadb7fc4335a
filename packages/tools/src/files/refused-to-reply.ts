import { toolReply, type ToolReply } from "@moora/agent-core-effects";
import { Refused } from "../refused.ts";

/** Runs `run`, and turns a `Refused` into a reply for the model. */
export async function refusedToReply(run: () => Promise<string>): Promise<string | ToolReply> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof Refused) return toolReply({ content: error.message, isError: true });
    throw error;
  }
}
