import type { AgentState } from "@moora/agent";
import type { EventLog } from "@moora/event-log";
import type { CliHost } from "../cli-host.ts";
import { openRecorded } from "./open-recorded.ts";

/** The state of a session as it is now. Undefined when there is no such session. */
export async function sessionState(
  log: EventLog,
  id: string,
  host: CliHost,
): Promise<AgentState | undefined> {
  if ((await log.open(id)) === undefined) return undefined;
  await using session = await openRecorded({ log, id, host }, "read");
  const { streaming: _, ...state } = session.current();
  return state;
}
