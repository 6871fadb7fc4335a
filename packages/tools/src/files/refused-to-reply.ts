import { toolReply, type ToolReply } from "@moora/agent-core-effects";
import { PathRefused } from "./root-folder.ts";

/** Runs `run`, and turns a `PathRefused` into a reply for the model. */
export async function refusedToReply(run: () => Promise<string>): Promise<string | ToolReply> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof PathRefused) return toolReply({ content: error.message, isError: true });
    throw error;
  }
}
