import { openSession, readHeader, type DurableSession } from "@moora/agent";
import { standInAgent } from "./recorded-agent.ts";
import type { SessionCall } from "./session-call.ts";

/** Opens a session of any agent, to read it or to post to its owner. */
export async function openRecorded(
  { log, id, host: { clock } }: Pick<SessionCall, "log" | "id" | "host">,
  access: "post" | "read",
): Promise<DurableSession> {
  const { agent } = await readHeader(log, id);
  return await openSession(standInAgent(agent), { log, id, access, clock });
}
