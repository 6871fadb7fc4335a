import { identityOf, InputRefused, LogError, textToHeader, type EventLog } from "@moora/agent";
import { parsePosted } from "@moora/agent/internal";
import type { LogRecord, SessionLog } from "@moora/event-log";
import type { HostedSession } from "./hosted-sessions.ts";

/** What the workflow of an append of a `dbosLog` gets. */
export interface AppendWork {
  readonly id: string;
  /** Differs from that of a later session with the same id. */
  readonly identity: string;
  readonly expectedSeq: number;
  readonly records: readonly LogRecord[];
}

/** What that workflow returns. */
export type AppendResult =
  | { readonly type: "appended" }
  | { readonly type: "conflict"; readonly seq: number }
  | { readonly type: "removed" }
  | { readonly type: "refused"; readonly message: string };

/**
 * Appends the records of another process to the log of a session, unless an earlier run has. A new release of the agent is appended
 * first, so that the records conflict and are made again. Refuses inputs that only the workflows may dispatch.
 */
export async function appendRecords(
  log: EventLog,
  session: HostedSession,
  work: AppendWork,
): Promise<AppendResult> {
  const refusal = refusalOf(work.records);
  if (refusal !== undefined) return { type: "refused", message: refusal };
  await session.configure();
  const handle = await log.open(work.id);
  if (handle === undefined || identityOf(work.id, textToHeader(handle.header)) !== work.identity)
    return { type: "removed" };
  try {
    await handle.append(work.expectedSeq, work.records);
    return { type: "appended" };
  } catch (error) {
    return await resultOf(error, handle, work);
  }
}

/** Why records are refused; undefined if a process may post all of them. */
function refusalOf(records: readonly LogRecord[]): string | undefined {
  try {
    for (const { body } of records) parsePosted(JSON.parse(body), "workflows");
    return undefined;
  } catch (error) {
    if (error instanceof InputRefused || error instanceof SyntaxError) return error.message;
    throw error;
  }
}

/** The result of an append that failed. Throws an error of the log after which the step is tried again, or fails. */
async function resultOf(
  error: unknown,
  handle: SessionLog,
  { expectedSeq, records }: AppendWork,
): Promise<AppendResult> {
  if (!(error instanceof LogError)) throw error;
  if (error.code === "InvalidRecord") return { type: "refused", message: error.message };
  if (error.code !== "Conflict") throw error;
  const head = await handle.head();
  const stored = await handle.read(Math.min(expectedSeq, head));
  const last = records.at(-1);
  if (stored.some(({ seq, digest }) => seq === last?.seq && digest === last.digest))
    return { type: "appended" };
  return { type: "conflict", seq: stored.at(-1)?.seq ?? head };
}
