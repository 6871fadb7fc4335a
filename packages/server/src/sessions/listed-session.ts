import { LogError } from "@moora/agent";
import { isOfWrite } from "@moora/agent/internal";
import type { EventLog, SessionLog } from "@moora/event-log";
import type { SessionSummary } from "@moora/agent-webui-protocol";
import type { SessionDetails } from "./session-details.ts";
import { isOfFork } from "./session-header.ts";

/** What the list of a log has of a session. */
export interface ListedSession {
  readonly summary: SessionSummary;
  readonly header: string;
}

/**
 * A session as a list shows it; undefined for a fork that lacks records. With `details` it has what they read of its records. A session that
 * was removed meanwhile or is damaged has none, and the list shows the others.
 */
export async function summaryOf(
  log: EventLog,
  { summary, header }: ListedSession,
  details: SessionDetails | undefined,
): Promise<SessionSummary | undefined> {
  const isFork = isOfFork(header);
  const shown = summary.seq === 0 ? undefined : details;
  if (!isFork && shown === undefined) return summary;
  try {
    const session = await log.open(summary.id);
    if (session === undefined) return summary;
    if (isFork && (await lacksRecords(session))) return undefined;
    return { ...summary, ...(await shown?.detailsOf(session, summary.seq)) };
  } catch (error) {
    if (error instanceof LogError) return summary;
    throw error;
  }
}

/** Whether a session is being written, or its writing was interrupted. */
async function lacksRecords(session: SessionLog): Promise<boolean> {
  const lease = await session.currentLease();
  return lease !== undefined && isOfWrite(lease);
}
