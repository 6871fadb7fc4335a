import { maxRecordLength } from "../validation.ts";
import { LogError } from "../log-error.ts";
import type { Lease, LogRecord, SessionLog, Snapshot } from "../port.ts";
import { withSessions } from "./altered-log.ts";
import { headOf, rechained } from "./chain-of.ts";
import type { LogStorage } from "./log-storage.ts";
import { memoryLogStorage } from "./memory-storage.ts";

/** A log with one fault, and the case of the suite whose name says what is wrong with it. */
export interface BrokenLog {
  readonly name: string;
  readonly fails: string;
  readonly storage: () => LogStorage;
}

const brokenSession = (
  name: string,
  fails: string,
  alter: (session: SessionLog) => Partial<SessionLog>,
): BrokenLog => ({
  name,
  fails,
  storage: () => memoryLogStorage((log) => withSessions(log, alter)),
});

/** A session that does something to the records on their way in. */
const brokenAppend = (
  name: string,
  fails: string,
  spoil: (records: readonly LogRecord[]) => readonly Pick<LogRecord, "body" | "changed">[],
): BrokenLog =>
  brokenSession(name, fails, (session) => ({
    append: async (expectedSeq, records) =>
      session.append(expectedSeq, rechained(await headOf(session), spoil(records))),
  }));

/** A session that does something to the records on their way out. */
const brokenRead = (
  name: string,
  fails: string,
  spoil: (records: readonly LogRecord[]) => readonly LogRecord[],
): BrokenLog =>
  brokenSession(name, fails, (session) => ({ read: async (after) => spoil(await session.read(after)) }));

const withBody = (change: (body: string) => string) => (records: readonly LogRecord[]) =>
  records.map((record) => ({ ...record, body: change(record.body) }));

const timeOf = ({ body }: LogRecord): number => Number(/"timestamp":(-?\d+)/.exec(body)?.[1] ?? 0);

/** Logs that are wrong in one way each: what the suite is tested with. */
export const brokenLogs: readonly BrokenLog[] = [
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
    "writes U+FFFD for what it does not know",
    "(B02) keeps a body with characters of four bytes",
    withBody((body) => body.replaceAll(/[\u{10000}-\u{10FFFF}]/gu, "\uFFFD")),
  ),
  brokenAppend(
    "takes any digest",
    "refuses a record whose digest does not continue the chain",
    (records) => records,
  ),
  brokenSession(
    "ignores the expected sequence",
    "refuses an append whose expected head is one too low, and says so",
    (session) => ({
      append: async (_expectedSeq, records) => {
        const head = await headOf(session);
        await session.append(head.seq, rechained(head, records));
      },
    }),
  ),
  brokenSession(
    "swallows errors",
    "refuses an append whose expected head is one too high, and says so",
    (session) => ({
      append: async (expectedSeq, records) => {
        await Promise.allSettled([(async () => session.append(expectedSeq, records))()]);
      },
    }),
  ),
  brokenSession("appends a batch piece by piece", "a batch with a bad record appends nothing", (session) => ({
    append: async (expectedSeq, records) => {
      for (const [index, record] of records.entries()) await session.append(expectedSeq + index, [record]);
    },
  })),
  brokenRead("reorders", "records come back in the order of their numbers, past 9, 99 and 999", (records) =>
    records.toSorted((one, other) => (String(one.seq) < String(other.seq) ? -1 : 1)),
  ),
  brokenRead(
    "sorts by time",
    "records come back in the order of appending, whatever times they bear",
    (records) => records.toSorted((one, other) => timeOf(one) - timeOf(other)),
  ),
  brokenRead(
    "sorts by body",
    "records come back in the order of appending, whatever their bodies are",
    (records) => records.toSorted((one, other) => (one.body < other.body ? -1 : 1)),
  ),
  brokenRead("leaves out equal records", "equal bodies are as many records", (records) => [
    ...new Map(records.map((record) => [record.body, record])).values(),
  ]),
  brokenSession("caches stale reads", "a handle sees what another handle appended", (session) => {
    const seen = (async () => [...(await session.read())])();
    return {
      append: async (expectedSeq, records) => {
        await session.append(expectedSeq, records);
        (await seen).push(...records);
      },
      head: async () => (await seen).length,
      read: async (after = 0) => (await seen).slice(Math.max(0, after)),
    };
  }),
  brokenSession("hands out what it keeps", "what was read cannot be used to change the log", (session) => {
    const kept = new Map<number, LogRecord>();
    return {
      read: async (after) =>
        (await session.read(after)).map((record) => {
          const mine = kept.get(record.seq) ?? { ...record };
          kept.set(record.seq, mine);
          return mine;
        }),
    };
  }),
  brokenSession("forgets who holds the lease", "a lease that is held is not given to another", () => ({
    lease: ({ owner, now, ttlMs }) => ({ owner, until: now + ttlMs }),
  })),
  brokenSession(
    "never lets a lease run out",
    "a lease that has run out is given to another, in its last instant",
    (session) => ({ lease: async (claim) => session.lease({ ...claim, now: 0 }) }),
  ),
  brokenSession(
    "claims the lease that it is asked for",
    "the current lease can be read without claiming it, here and elsewhere",
    (session) => ({ currentLease: () => session.lease({ owner: "reader", now: 0, ttlMs: 1 }) }),
  ),
  brokenSession(
    "keeps a lease when it is released",
    "the current lease is also shown when it has expired, and not when it was released",
    (session) => {
      let last: Lease | undefined;
      return {
        lease: async (claim) => (last = await session.lease(claim)),
        currentLease: () => last,
      };
    },
  ),
  brokenSession(
    "does not check what it does not read",
    "damage to the records before a snapshot fails their check",
    () => ({ checkUpTo: () => undefined }),
  ),
  brokenSession(
    "takes what is missing for sound",
    "records that are missing do not pass their check",
    (session) => ({ checkUpTo: async (seq) => session.checkUpTo(Math.min(seq, await session.head())) }),
  ),
  brokenSession(
    "shows nothing of a damaged log",
    "finds out that a body was altered, among records appended singly",
    (session) => ({
      inspect: async () => {
        const inspection = await session.inspect();
        return inspection.damage === undefined ? inspection : { ...inspection, records: [] };
      },
    }),
  ),
  brokenSession(
    "believes what a snapshot says of its body",
    "a snapshot whose body is not the one of its digest is not answered",
    () => {
      let saved: Snapshot | undefined;
      return { snapshot: () => saved, saveSnapshot: (snapshot) => void (saved = snapshot) };
    },
  ),
  brokenSession(
    "takes a million characters and no more",
    "takes a record of the greatest length, and refuses a longer one with both lengths",
    (session) => ({
      append: (expectedSeq, records) => {
        const [long] = records.filter(({ body }) => body.length > 1_000_000);
        if (long !== undefined) {
          throw new LogError("InvalidRecord", `${maxRecordLength} ${long.body.length}`, { seq: long.seq });
        }
        return session.append(expectedSeq, records);
      },
    }),
  ),
  brokenSession(
    "calls back inside the append",
    "a watch never calls back inside the append that it tells of",
    (session) => {
      const listeners = new Set<() => void>();
      return {
        watch: (listener) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
        append: (expectedSeq, records) => {
          const appended = session.append(expectedSeq, records);
          for (const listener of listeners) listener();
          return appended;
        },
      };
    },
  ),
  {
    name: "returns before the record is safe",
    fails: "what was acknowledged is there after a crash, whatever came last",
    storage: () =>
      memoryLogStorage(undefined, (storage) => {
        for (const life of storage.lives.values()) life.records = life.records.slice(0, -1);
      }),
  },
  {
    name: "leaks across sessions",
    fails: "records of one session do not appear in another",
    storage: () =>
      memoryLogStorage((log, storage) =>
        withSessions(log, () => {
          const lives = [...storage.lives.values()];
          for (const life of lives) life.records = lives[0]?.records ?? [];
          return {};
        }),
      ),
  },
  {
    name: "reads what is stored without checking it",
    fails: "finds out that a body was altered, among records appended singly",
    storage: () =>
      memoryLogStorage((log, storage) =>
        withSessions(log, ({ id }) => ({
          read: (after) => storage.lives.get(id)?.records.slice(after) ?? [],
        })),
      ),
  },
  {
    name: "forgets the tombstone",
    fails: "(D08) a handle of a removed session cannot append",
    storage: () =>
      memoryLogStorage((log) =>
        withSessions(log, (session) => ({
          append: async (expectedSeq, records) => {
            const living = (await log.open(session.id)) ?? (await log.create(session.id, session.header));
            const head = await headOf(living);
            await living.append(head.seq === 0 ? 0 : expectedSeq, rechained(head, records));
          },
        })),
      ),
  },
  {
    name: "keeps the snapshot of a removed session",
    fails: "(D08) a session made again under a removed id is another one, out of reach of old handles",
    storage: () => {
      const snapshots = new Map<string, Snapshot>();
      return memoryLogStorage((log) =>
        withSessions(log, ({ id }) => ({
          snapshot: () => snapshots.get(id),
          saveSnapshot: (snapshot) => void snapshots.set(id, snapshot),
        })),
      );
    },
  },
  {
    name: "creates over what is there",
    fails: "creating an id that is taken is refused and changes nothing",
    storage: () =>
      memoryLogStorage((log) =>
        withSessions(log, () => ({}), {
          create: async (id, header) => {
            await log.remove(id);
            return log.create(id, header);
          },
        }),
      ),
  },
  {
    name: "takes upper and lower case for the same",
    fails: "two ids that differ only in case are two sessions",
    storage: () =>
      memoryLogStorage((log) =>
        withSessions(log, () => ({}), {
          create: async (id, header) =>
            (await log.open(id.toLowerCase())) ?? log.create(id.toLowerCase(), header),
          open: (id) => log.open(id.toLowerCase()),
        }),
      ),
  },
];
