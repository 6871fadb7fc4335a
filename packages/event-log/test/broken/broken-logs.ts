import type { Snapshot } from "../../src/port.ts";
import { withSessions } from "../../src/with-sessions.ts";
import type { BrokenLog } from "./broken-log.ts";
import { brokenSessions } from "./broken-sessions.ts";
import { continueChain, headOf } from "../../src/testing/chain-of.ts";
import { memoryLogStorage } from "../../src/testing/memory-storage.ts";
import { nextTurn } from "../../src/testing/next-turn.ts";

/** Logs with one fault each, which test the conformance suite: each must fail its `failingCase`. */
export const brokenLogs: readonly BrokenLog[] = [
  ...brokenSessions,
  {
    name: "returns before the record is durable",
    failingCase: "keeps acknowledged records after a crash",
    storage: () =>
      memoryLogStorage(undefined, (storage) => {
        for (const generation of storage.generations.values())
          generation.records = generation.records.slice(0, -1);
      }),
  },
  {
    name: "mixes the records of sessions",
    failingCase: "keeps the records of sessions apart",
    storage: () =>
      memoryLogStorage((log, storage) =>
        withSessions(log, () => {
          const generations = [...storage.generations.values()];
          for (const generation of generations) generation.records = generations[0]?.records ?? [];
          return {};
        }),
      ),
  },
  {
    name: "reads records without checking them",
    failingCase: "finds that a body was altered, among records appended singly",
    storage: () =>
      memoryLogStorage((log, storage) =>
        withSessions(log, ({ id }) => ({
          read: (after) => storage.generations.get(id)?.records.slice(after) ?? [],
        })),
      ),
  },
  {
    name: "lists the sessions of other users",
    failingCase: "a page of users contains only their sessions",
    storage: () =>
      memoryLogStorage((log) =>
        withSessions(log, () => ({}), {
          page: async ({ after, limit }) => (await log.page?.({ after, limit })) ?? [],
        }),
      ),
  },
  {
    name: "skips a session between two pages",
    failingCase: "a walk lists each session that stays once, while others are created and removed",
    storage: () =>
      memoryLogStorage((log) =>
        withSessions(log, () => ({}), {
          page: async (query) => ((await log.page?.(query)) ?? []).slice(query.after === undefined ? 0 : 1),
        }),
      ),
  },
  {
    name: "forgets the tombstone",
    failingCase: "(D08) a handle of a removed session cannot append",
    storage: () =>
      memoryLogStorage((log) =>
        withSessions(log, (session) => ({
          append: async (expectedSeq, records) => {
            const current = (await log.open(session.id)) ?? (await log.create(session.id, session.header));
            const head = await headOf(current);
            await current.append(head.seq === 0 ? 0 : expectedSeq, continueChain(head, records));
          },
        })),
      ),
  },
  {
    name: "keeps the snapshot of a removed session",
    failingCase:
      "(D08) a session created again under a removed id is a new one, which old handles cannot access",
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
    name: "overwrites an existing session",
    failingCase: "rejects the creation of an id that is in use, and changes nothing",
    storage: () =>
      memoryLogStorage((log) =>
        withSessions(log, () => ({}), {
          create: async (id, header, claim) => {
            await log.remove(id);
            return log.create(id, header, claim);
          },
        }),
      ),
  },
  {
    name: "ignores the case of ids",
    failingCase: "two ids that differ only in case are two sessions",
    storage: () =>
      memoryLogStorage((log) =>
        withSessions(log, () => ({}), {
          create: async (id, header, claim) =>
            (await log.open(id.toLowerCase())) ?? log.create(id.toLowerCase(), header, claim),
          open: (id) => log.open(id.toLowerCase()),
        }),
      ),
  },
  {
    name: "ignores the lease of a creation",
    failingCase: "creates a session with a lease, which it has in every handle and after a crash",
    storage: () =>
      memoryLogStorage((log) =>
        withSessions(log, () => ({}), { create: (id, header) => log.create(id, header) }),
      ),
  },
  {
    name: "claims the lease of a creation after it",
    failingCase: "no process sees a session without the lease with which it is created",
    storage: () =>
      memoryLogStorage((log) =>
        withSessions(log, () => ({}), {
          create: async (id, header, claim) => {
            const session = await log.create(id, header);
            await nextTurn();
            if (claim !== undefined) await session.lease(claim);
            return session;
          },
        }),
      ),
  },
];
