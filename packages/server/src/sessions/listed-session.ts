import { LogError } from "@moora/agent";
import { isOfWrite } from "@moora/agent/internal";
import type { EventLog, SessionLog } from "@moora/event-log";
import type { SessionSummary } from "@moora/agent-webui-protocol";
import * as z from "zod/mini";
import { isOfFork, textToJson } from "./session-header.ts";

/** What the list of a log has of a session. */
export interface ListedSession {
  readonly summary: SessionSummary;
  readonly header: string;
}

/**
 * A session as a list shows it; undefined for a fork that lacks records. `isTimed`: with the time of its last record, for which one record
 * is read, whatever the length of the log. A session that was removed meanwhile or is damaged has no time, and the list shows the others.
 */
export async function summaryOf(
  log: EventLog,
  { summary, header }: ListedSession,
  isTimed: boolean,
): Promise<SessionSummary | undefined> {
  const isFork = isOfFork(header);
  const hasTime = isTimed && summary.seq > 0;
  if (!isFork && !hasTime) return summary;
  try {
    const session = await log.open(summary.id);
    if (session === undefined) return summary;
    if (isFork && (await lacksRecords(session))) return undefined;
    const updatedAt = hasTime ? await timeOf(session, summary.seq) : undefined;
    return updatedAt === undefined ? summary : { ...summary, updatedAt };
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

const bodySchema = z.object({ timestamp: z.number() });

async function timeOf(session: SessionLog, seq: number): Promise<number | undefined> {
  const [record] = await session.read(seq - 1, 1);
  return bodySchema.safeParse(textToJson(record?.body ?? "")).data?.timestamp;
}
