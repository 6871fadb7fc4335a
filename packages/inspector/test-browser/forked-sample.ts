import { exportSession, forkSession, importSession, type AgentInput } from "@moora/agent";
import { memoryLog } from "@moora/event-log";

/** The sample with another second message, forked after it and exported. */
export async function forkedSample(sample: string): Promise<string> {
  const log = memoryLog();
  await importSession(log, sample);
  await forkSession(log, "refund-1042", 20, { as: "refund-1042-fork", open: "rerun", edit });
  return await exportSession(log, "refund-1042-fork");
}

const edit = (input: AgentInput): AgentInput =>
  input.type === "user-message-received" && input.content.includes("2077")
    ? { ...input, content: "And order 1043? It cost 20 euros." }
    : input;
