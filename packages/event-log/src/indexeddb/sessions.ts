import { chainStart } from "../chain.ts";
import type { DueQuery, DueSession, LogInfo } from "../port.ts";
import { logExists } from "../validation.ts";
import { type HeadRow, recordsFrom, type SessionRow } from "./schema.ts";
import { resultOf, type Transaction } from "./transaction.ts";

/** Adds a session. Throws `LogExists` if the id is in use. */
export async function addSession(
  transaction: Transaction,
  { id, header, lease }: Omit<SessionRow, "generation"> & Pick<HeadRow, "lease">,
): Promise<SessionRow> {
  if ((await findSession(transaction, id)) !== undefined) throw logExists(id);
  const row: SessionRow = { generation: randomGeneration(), id, header };
  transaction.store("sessions").add(row);
  const { seq, digest } = chainStart(header);
  transaction.put("heads", { generation: row.generation, id, seq, digest, due: null, lease });
  return row;
}

/**
 * A number that no other generation has. It is random, since a counter begins again after a user has deleted the data of the
 * site: handles of deleted sessions would then access new ones.
 */
const randomGeneration = (): number =>
  Number((crypto.getRandomValues(new BigUint64Array(1))[0] ?? 0n) >> 12n);

/** The session of an id; undefined if there is none. */
export async function findSession(transaction: Transaction, id: string): Promise<SessionRow | undefined> {
  const row: IDBRequest<SessionRow | undefined> = transaction.store("sessions").index("id").get(id);
  return await resultOf(row);
}

/** Deletes a session with its records. Returns its generation; undefined if there was none. */
export async function deleteSession(transaction: Transaction, id: string): Promise<number | undefined> {
  const row = await findSession(transaction, id);
  if (row === undefined) return undefined;
  deleteGeneration(transaction, row.generation);
  return row.generation;
}

/** Deletes the rows of a generation. */
export function deleteGeneration(transaction: Transaction, generation: number): void {
  for (const name of ["sessions", "heads", "snapshots"] as const) transaction.store(name).delete(generation);
  transaction.store("records").delete(recordsFrom(generation, 0));
}

/** All sessions, unordered. */
export async function allSessions(transaction: Transaction): Promise<readonly LogInfo[]> {
  const [sessions, heads] = [await transaction.getAll("sessions"), await transaction.getAll("heads")];
  const headOf = new Map(heads.map(({ generation, seq }) => [generation, seq]));
  return sessions.map(({ generation, id, header }) => ({ id, head: headOf.get(generation) ?? 0, header }));
}

/** The sessions that are due, in order: reads the index of due times as far as the limit needs. */
export async function dueSessions(
  transaction: Transaction,
  { now, limit, after }: DueQuery,
): Promise<readonly DueSession[]> {
  const start = after === undefined ? [-Infinity] : [after.due, after.id];
  // An array follows every string: the range contains all ids at `now`.
  const range = IDBKeyRange.bound(start, [now, []], after !== undefined);
  const request = transaction.store("heads").index("due").openCursor(range);
  const found: DueSession[] = [];
  for (let cursor = await resultOf(request); cursor !== null; cursor = await nextOf(request, cursor)) {
    if (found.length >= limit) break;
    // Only this package writes the rows of the store.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const { generation, id, due, lease } = cursor.value as HeadRow;
    if (due === null || (lease !== null && lease.until > now)) continue;
    const session = await transaction.get("sessions", generation);
    if (session !== undefined) found.push({ id, header: session.header, due });
  }
  return found;
}

async function nextOf(
  request: IDBRequest<IDBCursorWithValue | null>,
  cursor: IDBCursorWithValue,
): Promise<IDBCursorWithValue | null> {
  cursor.continue();
  return await resultOf(request);
}
