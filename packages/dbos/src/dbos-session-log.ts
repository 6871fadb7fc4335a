import { identityOf, systemClock, textToHeader } from "@moora/agent";
import { engineClaim } from "@moora/agent/internal";
import { LogError, type Lease, type LogRecord, type SessionLog } from "@moora/event-log";
import { conflict, copyRecords, logRemoved, SerialQueue } from "@moora/event-log/store";
import { appendWithDbos, type AppendOptions } from "./append-client.ts";
import { dbosEngine } from "./engine.ts";

/** What a session on DBOS does otherwise than in its own log: a workflow makes its appends, and DBOS keeps its lease. */
export function sessionOnDbos(log: SessionLog, options: AppendOptions): Partial<SessionLog> {
  const { id } = log;
  const appends = new SerialQueue();
  /** Also of a session that its host has not opened yet. */
  const lease = async (): Promise<Lease> => {
    const current = await log.currentLease();
    return current === undefined || current.until <= systemClock.now() ? leaseOfDbos : current;
  };
  const append = async (expectedSeq: number, records: readonly LogRecord[]): Promise<void> => {
    const head = await log.head();
    if (head !== expectedSeq) throw conflict(expectedSeq, head);
    if (records.length === 0) return;
    const header = textToHeader(log.header);
    const work = { id, identity: identityOf(id, header), expectedSeq, records };
    const result = await appendWithDbos(options, { agent: header.agent.name, log: { lease } }, work);
    switch (result.type) {
      case "appended":
        return;
      case "conflict":
        throw conflict(expectedSeq, result.seq);
      case "removed":
        throw logRemoved(id);
      case "refused":
        throw new LogError("InvalidRecord", result.message);
    }
  };
  return {
    async append(expectedSeq, records) {
      // The caller may change them later.
      const own = copyRecords(records);
      await appends.run(() => append(expectedSeq, own));
    },
    lease,
    currentLease: lease,
    release: () => undefined,
    // No process runs a session of this log, so that none saves its state.
    saveSnapshot: () => undefined,
    ...(log.removeAt === undefined ? {} : { removeAt: log.removeAt.bind(log) }),
  };
}

const { owner, now, ttlMs } = engineClaim(dbosEngine, 0);
const leaseOfDbos: Lease = { owner, until: now + ttlMs };
