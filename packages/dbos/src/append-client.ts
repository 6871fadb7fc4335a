import { randomUUID } from "node:crypto";
import type { DBOSClient } from "@dbos-inc/dbos-sdk";
import { LogError } from "@moora/agent";
import type { AppendResult, AppendWork } from "./append-records.ts";
import { namesOf } from "./engine.ts";
import { workflowIdAt } from "./workflow-id.ts";

/** The part of a `DBOSClient` that a log uses. */
export type AppendingClient = Pick<DBOSClient, "enqueue">;

/** How often the result of an append is looked for, in milliseconds. */
const pollMs = 100;

/** How a log appends with DBOS. */
export interface AppendOptions {
  readonly client: AppendingClient;
  /** How long an append waits for its result, in milliseconds. */
  readonly waitMs: number;
}

/**
 * Appends records with a workflow, which a process with the host of the agent runs. Rejects with `LogWrite` if none has run it in
 * time, or DBOS cannot be reached: the records may be stored later.
 */
export async function appendWithDbos(
  options: AppendOptions,
  agent: string,
  work: AppendWork,
): Promise<AppendResult> {
  try {
    return await enqueueAppend(options, agent, work);
  } catch (cause) {
    const about = cause instanceof Error ? cause.message : String(cause);
    const message = `DBOS could not append to the session ${JSON.stringify(work.id)}: ${about}`;
    throw new LogError("LogWrite", message, { cause });
  }
}

async function enqueueAppend(
  { client, waitMs }: AppendOptions,
  agent: string,
  work: AppendWork,
): Promise<AppendResult> {
  const { append: workflowName, queue: queueName } = namesOf(agent);
  const workflowID = workflowIdAt(work, `append/${randomUUID()}`);
  const handle = await client.enqueue<Append>({ workflowName, queueName, workflowID }, work);
  for (let waitedMs = 0; waitedMs < waitMs; waitedMs += pollMs) {
    const status = (await handle.getStatus())?.status;
    if (status !== undefined && hasEnded(status)) return await handle.getResult();
    await delay(pollMs);
  }
  throw new Error(`no process with the host of the agent "${agent}" has appended within ${waitMs} ms.`);
}

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

type Append = (work: AppendWork) => Promise<AppendResult>;

/** Whether a workflow does nothing more, by its status. */
const hasEnded = (status: string): boolean => !["ENQUEUED", "DELAYED", "PENDING"].includes(status);
