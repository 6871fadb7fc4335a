import { LogError } from "@moora/agent";
import type { EventLog } from "@moora/event-log";
import type { SessionSummary } from "@moora/agent-webui-protocol";
import * as z from "zod/mini";
import { textToJson } from "./directory.ts";

/**
 * A session with the time of its last record, without it if it has no record or if that cannot be read now. Reads one record, whatever
 * the length of the log.
 */
export async function withLastChange(log: EventLog, session: SessionSummary): Promise<SessionSummary> {
  const updatedAt = session.seq === 0 ? undefined : await lastTimestamp(log, session);
  return updatedAt === undefined ? session : { ...session, updatedAt };
}

async function lastTimestamp(log: EventLog, { id, seq }: SessionSummary): Promise<number | undefined> {
  try {
    const records = await (await log.open(id))?.read(seq - 1, 1);
    return timestampOf(records?.at(-1)?.body ?? "");
  } catch (error) {
    // It was removed meanwhile, or is damaged: the list shows the others, and this one without a time.
    if (error instanceof LogError) return undefined;
    throw error;
  }
}

const bodySchema = z.object({ timestamp: z.number() });

const timestampOf = (body: string): number | undefined =>
  bodySchema.safeParse(textToJson(body)).data?.timestamp;
