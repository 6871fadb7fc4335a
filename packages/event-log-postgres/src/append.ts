import { conflict, type ChainHead, chainStart, type LogRecord, logRemoved } from "@moora/event-log";
import type { Database, Query } from "./database.ts";
import { sqlState } from "./postgres-failure.ts";
import type { PostgresLife } from "./session.ts";
import { textToStored } from "./stored-text.ts";

const uniqueViolation = "23505";
const foreignKeyViolation = "23503";

/** The head of a session as the server has it now. `LogRemoved` when there is no such life any more. */
export async function headNow(database: Database, query: Query, life: PostgresLife): Promise<ChainHead> {
  const [row] = await query(database.statements.head, life.life);
  if (row === undefined) throw logRemoved(life.id);
  return row["seq"] === null
    ? chainStart(life.header)
    : { seq: Number(row["seq"]), digest: String(row["digest"]) };
}

/**
 * Appends records after `head`, exactly once. When the connection breaks, nobody knows whether the server has done it, or
 * is about to: so it is told again. The key of the table lets only one of the two attempts through, and the digest, which
 * covers all that went before, says whose record it is that kept the second out.
 */
export async function appendOnce(
  database: Database,
  life: PostgresLife,
  head: ChainHead,
  records: readonly LogRecord[],
): Promise<void> {
  const last = records.at(-1);
  if (last === undefined) return;
  await database.run("append", async (query, isAgain) => {
    if (await insert(database, query, life, head, records)) return;
    if (isAgain && (await isThere(database, query, life, last))) return;
    throw conflict(head.seq, (await headNow(database, query, life)).seq);
  });
}

/** False when the head is elsewhere, or the session is gone. */
async function insert(
  { statements, channel }: Database,
  query: Query,
  { life }: PostgresLife,
  head: ChainHead,
  records: readonly LogRecord[],
): Promise<boolean> {
  try {
    const [row] = await query(
      statements.append,
      life,
      head.seq,
      head.digest,
      records.map(({ seq }) => seq),
      records.map(({ changed }) => textToStored(changed)),
      records.map(({ digest }) => digest),
      records.map(({ body }) => textToStored(body)),
      channel,
    );
    return row?.["added"] === records.length;
  } catch (error) {
    const state = sqlState(error);
    if (state === uniqueViolation || state === foreignKeyViolation) return false;
    throw error;
  }
}

async function isThere(
  { statements }: Database,
  query: Query,
  { life }: PostgresLife,
  { seq, digest }: LogRecord,
): Promise<boolean> {
  const [row] = await query(statements.digestAt, life, seq);
  return row?.["digest"] === digest;
}
