import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { DBOSClient } from "@dbos-inc/dbos-sdk";
import { LogError } from "@moora/agent";
import type { AppendResult, AppendWork } from "./append-records.ts";
import { namesOf } from "./engine.ts";
import { workflowIdAt } from "./workflow-id.ts";

/** The part of a `DBOSClient` that a log uses. */
export type AppendingClient = Pick<DBOSClient, "enqueue">;

/** How often the result of an append is looked for, and for how long, in milliseconds. */
const [pollMs, longestMs] = [100, 30_000];

/**
 * Appends records with a workflow, which a process with the host of the agent runs. Rejects with `LogWrite` if none has run it in
 * time, or DBOS cannot be reached: the records may be stored later.
 */
export async function appendWithDbos(
  client: AppendingClient,
  agent: string,
  work: AppendWork,
): Promise<AppendResult> {
  try {
    return await enqueueAppend(client, agent, work);
  } catch (cause) {
    const about = cause instanceof Error ? cause.message : String(cause);
    const message = `DBOS could not append to the session ${JSON.stringify(work.id)}: ${about}`;
    throw new LogError("LogWrite", message, { cause });
  }
}

async function enqueueAppend(
  client: AppendingClient,
  agent: string,
  work: AppendWork,
): Promise<AppendResult> {
  const { append: workflowName, queue: queueName } = namesOf(agent);
  const workflowID = workflowIdAt(work, `append/${randomUUID()}`);
  const handle = await client.enqueue<Append>({ workflowName, queueName, workflowID }, work);
  for (let waitedMs = 0; waitedMs < longestMs; waitedMs += pollMs) {
    const status = (await handle.getStatus())?.status;
    if (status !== undefined && hasEnded(status)) return await handle.getResult();
    await delay(pollMs);
  }
  throw new Error(
    `no process with the host of the agent "${agent}" has appended within ${longestMs / 1_000} seconds.`,
  );
}

type Append = (work: AppendWork) => Promise<AppendResult>;

/** Whether a workflow does nothing more, by its status. */
const hasEnded = (status: string): boolean => !["ENQUEUED", "DELAYED", "PENDING"].includes(status);
