import type { AgentState } from "@moora/agent";
import type { EventLog } from "@moora/event-log";
import type { CliHost } from "../cli-host.ts";
import { attachSession } from "./attach-session.ts";

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
