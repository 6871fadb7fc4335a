import { type ChainHead, chainStart, type LogRecord } from "@moora/event-log";
import { conflict, logRemoved } from "@moora/event-log/store";
import type { Database, Query } from "./database.ts";
import { sqlState } from "./postgres-failure.ts";

import { textToStored } from "./stored-text.ts";

/** One generation of a session: its key in the tables, its id and header. */
export interface PostgresGeneration {
  readonly generation: string;
  readonly id: string;
  readonly header: string;
}

const uniqueViolation = "23505";
const foreignKeyViolation = "23503";

/** Reads the head of a session from the server. Throws `LogRemoved` when the generation does not exist. */
export async function readHead(
  database: Database,
  query: Query,
  generation: PostgresGeneration,
): Promise<ChainHead> {
  const [row] = await query(database.statements.head, generation.generation);
  if (row === undefined) throw logRemoved(generation.id);
  return row["seq"] === null
    ? chainStart(generation.header)
    : { seq: Number(row["seq"]), digest: String(row["digest"]) };
}

/**
 * Appends records after `head`, exactly once. When the connection breaks, it is unknown whether the server executed the statement
 * or still will, so the statement is sent again. The primary key lets only one of the two attempts succeed, and the digest, which
 * covers all records before, shows whether the stored record is ours.
 */
export async function appendOnce(
  database: Database,
  generation: PostgresGeneration,
  head: ChainHead,
  records: readonly LogRecord[],
): Promise<void> {
  const last = records.at(-1);
  if (last === undefined) return;
  await database.run("append", async (query, isRetry) => {
    if (await insert(database, query, generation, { head, records })) return;
    if (isRetry && (await isStored(database, query, generation, last))) return;
    throw conflict(head.seq, (await readHead(database, query, generation)).seq);
  });
}

/** Returns false when the head is not `head`, or the session was removed. */
async function insert(
  database: Database,
  query: Query,
  { generation }: PostgresGeneration,
  { head, records }: { readonly head: ChainHead; readonly records: readonly LogRecord[] },
): Promise<boolean> {
  try {
    const added = await query(
      database.statements.append,
      generation,
      head.seq,
      head.digest,
      records.map(({ seq }) => seq),
      records.map(({ changesDigest }) => textToStored(changesDigest)),
      records.map(({ digest }) => digest),
      records.map(({ body }) => textToStored(body)),
      database.channel,
      database.notificationOf(generation),
    );
    return added.length === records.length;
  } catch (error) {
    const state = sqlState(error);
    if (state === uniqueViolation || state === foreignKeyViolation) return false;
    throw error;
  }
}

async function isStored(
  { statements }: Database,
  query: Query,
  { generation }: PostgresGeneration,
  { seq, digest }: LogRecord,
): Promise<boolean> {
  const [row] = await query(statements.digestAt, generation, seq);
  return row?.["digest"] === digest;
}
