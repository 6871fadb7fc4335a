import { randomUUID } from "node:crypto";
import type { DBOSClient } from "@dbos-inc/dbos-sdk";
import { LogError, systemClock } from "@moora/agent";
import { ownerOf } from "@moora/agent/internal";
import type { SessionLog } from "@moora/event-log";
import type { AppendResult, AppendWork } from "./append-records.ts";
import { dbosEngine, namesOf } from "./engine.ts";
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

/** A session that records are appended to: its agent, and the log that its host has. */
export interface AppendTarget {
  readonly agent: string;
  readonly log: Pick<SessionLog, "currentLease">;
}

/**
 * Appends records with a workflow, which a process with the host of the agent runs. Rejects with `LogWrite` if none has run it in
 * time, or DBOS cannot be reached: the records may be stored later.
 */
export async function appendWithDbos(
  options: AppendOptions,
  target: AppendTarget,
  work: AppendWork,
): Promise<AppendResult> {
  try {
    return await enqueueAppend(options, target, work);
  } catch (cause) {
    const message = `DBOS could not append to the session ${JSON.stringify(work.id)}: ${problemOf(cause)}`;
    throw new LogError("LogWrite", message, { cause });
  }
}

/** The code of PostgreSQL for a table that does not exist. */
const undefinedTable = "42P01";

function problemOf(error: unknown): string {
  if (Reflect.get(Object(error), "code") === undefinedTable)
    return "the database has no tables of DBOS, which the first launch of a process with DBOS creates.";
  return error instanceof Error ? error.message : String(error);
}

async function enqueueAppend(
  { client, waitMs }: AppendOptions,
  target: AppendTarget,
  work: AppendWork,
): Promise<AppendResult> {
  const { append: workflowName, queue: queueName } = namesOf(target.agent);
  const workflowID = workflowIdAt(work, `append/${randomUUID()}`);
  const handle = await client.enqueue<Append>({ workflowName, queueName, workflowID }, work);
  for (let waitedMs = 0; waitedMs < waitMs; waitedMs += pollMs) {
    const status = (await handle.getStatus())?.status;
    if (status !== undefined && hasEnded(status)) return await handle.getResult();
    await delay(pollMs);
  }
  throw new Error(`${await delayOf(target)} within ${waitMs} ms.`);
}

/** Why an append has not been made. */
async function delayOf({ agent, log }: AppendTarget): Promise<string> {
  const lease = await log.currentLease();
  const owner = lease && lease.until > systemClock.now() ? ownerOf(lease.owner) : dbosEngine;
  return owner === dbosEngine
    ? `no process with the host of the agent "${agent}" has appended`
    : `it is run by ${JSON.stringify(owner)} instead of DBOS, which has not closed it`;
}

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

type Append = (work: AppendWork) => Promise<AppendResult>;

/** Whether a workflow does nothing more, by its status. */
const hasEnded = (status: string): boolean => !["ENQUEUED", "DELAYED", "PENDING"].includes(status);
