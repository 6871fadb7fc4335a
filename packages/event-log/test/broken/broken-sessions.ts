import { LogError } from "../../src/log-error.ts";
import type { Lease, LogRecord, SessionLog, Snapshot } from "../../src/port.ts";
import { maxRecordLength } from "../../src/validation.ts";
import { type BrokenLog, brokenAppend, brokenRead, brokenSession } from "./broken-log.ts";
import { continueChain, headOf } from "../../src/testing/chain-of.ts";

const withBody = (change: (body: string) => string) => (records: readonly LogRecord[]) =>
  records.map((record) => ({ ...record, body: change(record.body) }));

const timeOf = ({ body }: LogRecord): number => Number(/"timestamp":(-?\d+)/.exec(body)?.[1] ?? 0);

/** Logs with one fault in the methods of their handles. */
export const brokenSessions: readonly BrokenLog[] = [
  brokenAppend("loses the last record of an append", "a batch is appended whole", (records) =>
    records.slice(0, -1),
  ),
  brokenAppend("appends everything twice", "an append adds its records once", (records) => [
    ...records,
    ...records,
  ]),
  brokenAppend(
    "cuts bodies at 64 KB",
    "keeps a body of 65537 characters",
    withBody((body) => body.slice(0, 65_536)),
  ),
  brokenAppend(
    "drops NUL",
    "keeps a body with NUL characters",
    withBody((body) => body.replaceAll("\0", "")),
  ),
  brokenAppend(
    "replaces unknown characters with U+FFFD",
    "(B02) keeps a body with characters of four bytes",
    withBody((body) => body.replaceAll(/[\u{10000}-\u{10FFFF}]/gu, "\uFFFD")),
  ),
  brokenAppend(
    "accepts any digest",
    "rejects a record whose digest does not continue the chain",
    (records) => records,
  ),
  brokenSession(
    "ignores the expected sequence",
    "rejects an append whose expected head is one too low",
    (session) => ({
      append: async (_expectedSeq, records) => {
        const head = await headOf(session);
        await session.append(head.seq, continueChain(head, records));
      },
    }),
  ),
  brokenSession("swallows errors", "rejects an append whose expected head is one too high", (session) => ({
    append: async (expectedSeq, records) => {
      await Promise.allSettled([(async () => session.append(expectedSeq, records))()]);
    },
  })),
  brokenSession(
    "appends a batch record by record",
    "a batch with a bad record appends nothing",
    (session) => ({
      append: async (expectedSeq, records) => {
        for (const [index, record] of records.entries()) await session.append(expectedSeq + index, [record]);
      },
    }),
  ),
  brokenSession("stops too early", "reads a part of the records after any position", (session) => ({
    read: async (after, limit) =>
      (await session.read(after)).slice(0, limit === undefined ? undefined : limit - 1),
  })),
  brokenRead("reorders", "reads records in the order of their numbers, past 9, 99 and 999", (records) =>
    records.toSorted((one, other) => (String(one.seq) < String(other.seq) ? -1 : 1)),
  ),
  brokenRead("sorts by time", "reads records in the order of appending, not of their timestamps", (records) =>
    records.toSorted((one, other) => timeOf(one) - timeOf(other)),
  ),
  brokenRead("sorts by body", "reads records in the order of appending, not of their bodies", (records) =>
    records.toSorted((one, other) => (one.body < other.body ? -1 : 1)),
  ),
  brokenRead("removes equal records", "keeps records with equal bodies", (records) => [
    ...new Map(records.map((record) => [record.body, record])).values(),
  ]),
  brokenSession("caches stale reads", "a handle sees what another handle appended", (session) => {
    const cached = (async () => [...(await session.read())])();
    return {
      append: async (expectedSeq, records) => {
        await session.append(expectedSeq, records);
        (await cached).push(...records);
      },
      head: async () => (await cached).length,
      read: async (after = 0) => (await cached).slice(Math.max(0, after)),
    };
  }),
  brokenSession(
    "returns its internal objects",
    "changes to records that were read do not change the log",
    (session) => {
      const shared = new Map<number, LogRecord>();
      return {
        read: async (after) =>
          (await session.read(after)).map((record) => {
            const mine = shared.get(record.seq) ?? { ...record };
            shared.set(record.seq, mine);
            return mine;
          }),
      };
    },
  ),
  brokenSession(
    "does not store the owner of the lease",
    "does not give a lease that is held to another owner",
    () => ({
      lease: ({ owner, now, ttlMs }) => ({ owner, until: now + ttlMs }),
    }),
  ),
  brokenSession(
    "never lets a lease expire",
    "gives an expired lease to another owner, from its last instant on",
    (session) => ({ lease: async (claim) => session.lease({ ...claim, now: 0 }) }),
  ),
  brokenSession(
    "claims the lease when it is read",
    "reads the current lease without claiming it, in every handle",
    (session) => ({ currentLease: () => session.lease({ owner: "reader", now: 0, ttlMs: 1 }) }),
  ),
  brokenSession(
    "keeps a released lease",
    "returns the current lease after it expired, but not after its release",
    (session) => {
      let last: Lease | undefined;
      return {
        lease: async (claim) => (last = await session.lease(claim)),
        currentLease: () => last,
      };
    },
  ),
  brokenSession(
    "does not check records that are not read",
    "checkUpTo finds damage to the records before a snapshot",
    () => ({ checkUpTo: () => undefined }),
  ),
  brokenSession("accepts missing records as undamaged", "checkUpTo finds missing records", (session) => ({
    checkUpTo: async (seq) => session.checkUpTo(Math.min(seq, await session.head())),
  })),
  brokenSession(
    "returns no records of a damaged log",
    "finds that a body was altered, among records appended singly",
    (session) => ({
      inspect: async () => {
        const inspection = await session.inspect();
        return inspection.damage === undefined ? inspection : { ...inspection, records: [] };
      },
    }),
  ),
  brokenSession(
    "does not check the body digest of a snapshot",
    "does not return a snapshot whose body does not match its digest",
    () => {
      let saved: Snapshot | undefined;
      return { snapshot: () => saved, saveSnapshot: (snapshot) => void (saved = snapshot) };
    },
  ),
  brokenSession(
    "accepts at most a million characters",
    "accepts a record of the maximum length, and rejects a longer one with both lengths",
    (session) => ({
      append: (expectedSeq, records) => {
        const [long] = records.filter(({ body }) => body.length > 1_000_000);
        if (long !== undefined)
          throw new LogError("InvalidRecord", `${maxRecordLength} ${long.body.length}`, { seq: long.seq });

        return session.append(expectedSeq, records);
      },
    }),
  ),
  brokenSession(
    "calls listeners during the append",
    "a watch never calls its listener during the append",
    (session) => callListeners(session, (listener) => listener()),
  ),
  brokenSession(
    "reports the appends of a handle to the handle itself",
    "a watch does not report the appends of its own handle",
    (session) => callListeners(session, (listener) => void Promise.resolve().then(listener)),
  ),
];

/** The listeners of all handles, by the id of their session. */
const listenersById = new Map<string, Set<() => void>>();

/** Calls the listeners of all handles after each append, also those of the handle itself. */
function callListeners(session: SessionLog, call: (listener: () => void) => void): Partial<SessionLog> {
  const listeners = listenersById.get(session.id) ?? new Set();
  listenersById.set(session.id, listeners);
  return {
    watch: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    append: (expectedSeq, records) => {
      const appended = session.append(expectedSeq, records);
      for (const listener of listeners) call(listener);
      return appended;
    },
  };
}
