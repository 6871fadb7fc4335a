import { type ChainHead, chainStart } from "../chain.ts";
import { chained, digestOf } from "../digest.ts";
import type { LogRecord, SessionLog, Snapshot } from "../port.ts";

/** Records with these bodies that continue a chain. */
export function recordsAfter(head: ChainHead, ...bodies: readonly string[]): readonly LogRecord[] {
  return recordsOf(head, bodies, () => "changed");
}

/** Records with these bodies, each with what it changed. */
export const recordsOf = (
  head: ChainHead,
  texts: readonly string[],
  changedBy: (body: string) => string,
): readonly LogRecord[] =>
  rechained(
    head,
    texts.map((body) => ({ body, changed: changedBy(body) })),
  );

/** Numbers and digests records anew, so that they continue a chain. */
export function rechained(
  head: ChainHead,
  records: readonly Pick<LogRecord, "body" | "changed">[],
): readonly LogRecord[] {
  let { seq, digest } = head;
  return records.map(({ body, changed }) => {
    seq += 1;
    digest = chained(digest, body, changed);
    return { seq, body, changed, digest };
  });
}

/** The head of a log as its records tell it. */
export async function headOf(session: SessionLog): Promise<ChainHead> {
  const last = (await session.read()).at(-1);
  return last === undefined ? chainStart(session.header) : { seq: last.seq, digest: last.digest };
}

/** Appends records with these bodies at the head, as one batch; answers them. */
export async function grow(session: SessionLog, ...bodies: readonly string[]): Promise<readonly LogRecord[]> {
  const head = await headOf(session);
  const records = recordsAfter(head, ...bodies);
  await session.append(head.seq, records);
  return records;
}

/** Appends records with these bodies at the head, one after another; answers them. */
export async function growSingly(
  session: SessionLog,
  ...bodies: readonly string[]
): Promise<readonly LogRecord[]> {
  const records = recordsAfter(await headOf(session), ...bodies);
  for (const record of records) await session.append(record.seq - 1, [record]);
  return records;
}

/** A snapshot of the record `seq`, as its writer saves it. */
export const snapshotOf = (seq: number, body = "{}", version = "1", digest = "d"): Snapshot => ({
  seq,
  digest,
  version,
  body,
  bodyDigest: digestOf(body),
});

/** So many different bodies. */
export const bodies = (count: number, what = "body"): readonly string[] =>
  Array.from({ length: count }, (_, index) => JSON.stringify({ type: what, index }));
