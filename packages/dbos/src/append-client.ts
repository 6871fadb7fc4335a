import { randomUUID } from "node:crypto";
import { StatusString, type DBOSClient, type WorkflowHandle } from "@dbos-inc/dbos-sdk";
import { LogError, systemClock } from "@moora/agent";
import { ownerOf } from "@moora/agent/internal";
import { errorText } from "@moora/agent-core-effects/internal";
import type { Lease } from "@moora/event-log";
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

/** A session that records are appended to, with its agent. */
export interface AppendTarget {
  readonly agent: string;
  readonly log: { readonly lease: () => Promise<Lease> };
}

/**
 * Appends records with a workflow, which a process with the host of the agent runs. Rejects with `LogWrite` if none has run it in
 * time, or DBOS cannot be reached: the records may be stored later. Rejects with `LogRemoved` if the session was removed meanwhile.
 */
export async function appendWithDbos(
  options: AppendOptions,
  target: AppendTarget,
  work: AppendWork,
): Promise<AppendResult> {
  try {
    return await enqueueAppend(options, target, work);
  } catch (cause) {
    if (cause instanceof LogError) throw cause;
    const message = `DBOS could not append to the session ${JSON.stringify(work.id)}: ${problemOf(cause)}`;
    throw new LogError("LogWrite", message, { cause });
  }
}

/** The code of PostgreSQL for a table that does not exist. */
const undefinedTable = "42P01";

function problemOf(error: unknown): string {
  if (Reflect.get(Object(error), "code") === undefinedTable)
    return "the database has no tables of DBOS, which the first launch of a process with DBOS creates.";
  return errorText(error);
}

async function enqueueAppend(
  { client, waitMs }: AppendOptions,
  target: AppendTarget,
  work: AppendWork,
): Promise<AppendResult> {
  const { workflows, queue: queueName } = namesOf(target.agent);
  const workflowID = workflowIdAt(work, `append/${randomUUID()}`);
  const handle = await client.enqueue<Append>(
    { workflowName: workflows.append, queueName, workflowID },
    work,
  );
  if (await hasEndedIn(waitMs, handle)) return await handle.getResult();
  throw new Error(await delayOf(target, waitMs));
}

/** Waits until a workflow has ended. Resolves with false if it has not in this time: the last look is after it. */
async function hasEndedIn(
  waitMs: number,
  workflow: Pick<WorkflowHandle<unknown>, "getStatus">,
): Promise<boolean> {
  const until = systemClock.now() + waitMs;
  for (let isLast = false; ;) {
    const status = (await workflow.getStatus())?.status;
    if (status !== undefined && !activeStatuses.includes(status)) return true;
    if (isLast) return false;
    const leftMs = Math.max(0, until - systemClock.now());
    isLast = leftMs <= pollMs;
    await delay(Math.min(leftMs, pollMs));
  }
}

/** Why an append has not been made. */
async function delayOf({ agent, log }: AppendTarget, waitMs: number): Promise<string> {
  const owner = ownerOf((await log.lease()).owner);
  return owner === dbosEngine
    ? `no process with the host of the agent "${agent}" has appended within ${waitMs} ms. Launch one, then repeat the post with its idempotency key.`
    : `it is run by ${JSON.stringify(owner)} instead of DBOS, which has not closed it within ${waitMs} ms.`;
}

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

type Append = (work: AppendWork) => Promise<AppendResult>;

/** The statuses of a workflow that has not ended. */
const activeStatuses: readonly string[] = [StatusString.ENQUEUED, StatusString.DELAYED, StatusString.PENDING];
