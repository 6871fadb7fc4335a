import { openSession, readHeader, type DurableSession } from "@moora/agent";
import { agentWithoutTools } from "./recorded-agent.ts";
import type { SessionCall } from "./open-call.ts";

/** Opens a session of any agent, to read it or to post to its owner. */
export async function attachSession(
  { log, id, host: { clock } }: Pick<SessionCall, "log" | "id" | "host">,
  access: "post" | "read",
): Promise<DurableSession> {
  const { agent } = await readHeader(log, id);
  return await openSession(agentWithoutTools(agent), { log, id, access, clock });
}
