import { type ChainHead, chainStart } from "../chain.ts";
import { recordDigest, digestOf } from "../digest.ts";
import type { LogRecord, SessionLog, Snapshot } from "../port.ts";

/** Creates records with these bodies that continue a chain. */
export function recordsAfter(head: ChainHead, ...bodies: readonly string[]): readonly LogRecord[] {
  return recordsOf(head, bodies, () => "changed");
}

/** Creates records with these bodies and changes digests that continue a chain. */
export const recordsOf = (
  head: ChainHead,
  texts: readonly string[],
  changesDigestOf: (body: string) => string,
): readonly LogRecord[] =>
  continueChain(
    head,
    texts.map((body) => ({ body, changesDigest: changesDigestOf(body) })),
  );

/** Renumbers records and computes their digests, so that they continue a chain. */
export function continueChain(
  head: ChainHead,
  records: readonly Pick<LogRecord, "body" | "changesDigest">[],
): readonly LogRecord[] {
  let { seq, digest } = head;
  return records.map(({ body, changesDigest }) => {
    seq += 1;
    digest = recordDigest(digest, body);
    return { seq, body, changesDigest, digest };
  });
}

/** The head of a log, from its records. */
export async function headOf(session: SessionLog): Promise<ChainHead> {
  const last = (await session.read()).at(-1);
  return last === undefined ? chainStart(session.header) : { seq: last.seq, digest: last.digest };
}

/** Appends records with these bodies at the head, as one batch. Returns the records. */
export async function appendBodies(
  session: SessionLog,
  ...bodies: readonly string[]
): Promise<readonly LogRecord[]> {
  const head = await headOf(session);
  const records = recordsAfter(head, ...bodies);
  await session.append(head.seq, records);
  return records;
}

/** Appends records with these bodies at the head, one append for each. Returns the records. */
export async function appendOneByOne(
  session: SessionLog,
  ...bodies: readonly string[]
): Promise<readonly LogRecord[]> {
  const records = recordsAfter(await headOf(session), ...bodies);
  for (const record of records) await session.append(record.seq - 1, [record]);
  return records;
}

/** Creates a snapshot of record `seq` with a valid `bodyDigest`. */
export const snapshotOf = (seq: number, body = "{}", version = "1", digest = "d"): Snapshot => ({
  seq,
  digest,
  version,
  body,
  bodyDigest: digestOf(body),
});

/** Creates this many different bodies. */
export const bodies = (count: number, what = "body"): readonly string[] =>
  Array.from({ length: count }, (_, index) => JSON.stringify({ type: what, index }));
