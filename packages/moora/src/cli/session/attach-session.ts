import { openSession, readHeader, type DurableSession, type AgentState } from "@moora/agent";
import { agentWithoutTools } from "./recorded-agent.ts";
import type { SessionCall } from "./session-call.ts";
import type { EventLog } from "@moora/event-log";
import type { CliHost } from "../cli-host.ts";

/** Opens a session of any agent, to read it or to post to its owner. */
export async function attachSession(
  { log, id, host: { clock } }: Pick<SessionCall, "log" | "id" | "host">,
  access: "post" | "read",
): Promise<DurableSession> {
  const { agent } = await readHeader(log, id);
  return await openSession(agentWithoutTools(agent), { log, id, access, clock });
}

/** The state of a session as it is now. Undefined when there is no such session. */
export async function sessionState(
  log: EventLog,
  id: string,
  host: CliHost,
): Promise<AgentState | undefined> {
  if ((await log.open(id)) === undefined) return undefined;
  await using session = await attachSession({ log, id, host }, "read");
  const { streaming: _, ...state } = session.current();
  return state;
}
