import { foldHeader, SessionError, type FoldedSession } from "@moora/agent";
import { foldRecords } from "@moora/agent/internal";
import { stateVersion } from "@moora/agent-core-state-machine/internal";
import { LogError, type ChainHead, type LogRecord } from "@moora/event-log";
import { callSession } from "./ingress.ts";
import type { RecordsPage, RecordsQuery, StoredSession, View, ViewQuery } from "./session-messages.ts";

/** A session, and the text of its header. */
export interface KnownSession {
  readonly header: string;
  readonly session: FoldedSession;
}

export interface CacheOptions {
  readonly ingressUrl: string;
  /** The name of the object of the sessions. */
  readonly service: string;
  /** How much is kept, in bytes of the JSON of states. */
  readonly bytes: number;
}

interface Entry {
  readonly known: KnownSession;
  readonly bytes: number;
}

/** The number of records that are read at once. */
const pageSize = 200;

/**
 * The sessions that this process has folded last. A session is what its records fold to, so that one with the digest of the stored
 * head is the stored one, and need not be read. What is missing is read through the ingress, outside the journal of any handler.
 */
export class SessionCache {
  readonly #options: CacheOptions;
  /** The one that was used last is at the end. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(options: CacheOptions) {
    this.#options = options;
  }

  /** Keeps a session whose state has about this length as JSON. */
  keep(id: string, known: KnownSession, bytes: number): void {
    this.#forget(id);
    if (bytes > this.#options.bytes) return;
    this.#entries.set(id, { known, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#options.bytes) return;
      this.#forget(oldest);
    }
  }

  /** Resolves with a session as it is now; undefined if it has received nothing. */
  async current(id: string): Promise<KnownSession | undefined> {
    return (await this.#next(id)) ?? (await this.#whole(id));
  }

  /**
   * Resolves with a session at a head, for the input that its object applies to it. Rejects if the object no longer has what leads
   * to that: another run has applied the input.
   */
  async at(id: string, head: ChainHead): Promise<KnownSession> {
    const kept = this.#at(id, head);
    if (kept !== undefined) return kept;
    const isBefore = (this.#entries.get(id)?.known.session.head.seq ?? head.seq) < head.seq;
    const known = (isBefore ? await this.#next(id, head) : undefined) ?? (await this.#stored(id, head));
    if (known.session.head.digest === head.digest) return known;
    throw new Error(
      `The session "${id}" is no longer at its record ${head.seq}: another run has replaced this one.`,
    );
  }

  /** Resolves with a session at a head that its object has had, or at a later one. */
  async since(id: string, head: ChainHead): Promise<KnownSession> {
    return this.#at(id, head) ?? (await this.#next(id)) ?? (await this.#stored(id));
  }

  #at(id: string, head: ChainHead): KnownSession | undefined {
    const entry = this.#entries.get(id);
    return entry?.known.session.head.digest === head.digest ? this.#used(id, entry) : undefined;
  }

  /** Resolves with a session that is kept and the records after it, up to `last`; undefined if they do not lead there. */
  async #next(id: string, last?: ChainHead): Promise<KnownSession | undefined> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    const { header, session } = entry.known;
    const view = await this.#call<View>(id, "view", { after: session.head } satisfies ViewQuery);
    if (view === null || !("records" in view) || view.records === undefined) return undefined;
    const records = upTo(view.records, last);
    const folded = folds(session, records);
    if (folded === undefined || (last !== undefined && folded.head.digest !== last.digest)) return undefined;
    return this.#used(id, { known: { header, session: folded }, bytes: entry.bytes + lengthOf(records) });
  }

  async #whole(id: string): Promise<KnownSession | undefined> {
    const view = await this.#call<View>(id, "view", null);
    if (view === null || !("state" in view)) return undefined;
    const { header, state, seq, digest } = view;
    const known = { header, session: { state, head: { seq, digest: digest ?? "" } } };
    return digest === undefined ? known : this.#used(id, { known, bytes: JSON.stringify(state).length });
  }

  /** Resolves with the stored snapshot and the records after it, up to `last`. */
  async #stored(id: string, last?: ChainHead): Promise<KnownSession> {
    const stored = await this.#call<StoredSession | null>(id, "stored", null);
    if (stored === null) throw new Error(`The session "${id}" is no longer stored.`);
    const { header, snapshot } = stored;
    const isReadable = snapshot.state.version === stateVersion;
    const start = isReadable ? snapshot : foldHeader(header);
    const { seq } = stored.records.at(-1) ?? snapshot.head;
    const records = isReadable ? stored.records : await this.records(id, seq);
    const session = foldRecords(start, upTo(records, last));
    return this.#used(id, { known: { header, session }, bytes: JSON.stringify(session.state).length });
  }

  /** Resolves with the first records of a session. */
  async records(id: string, count: number): Promise<readonly LogRecord[]> {
    const records: LogRecord[] = [];
    while (records.length < count) {
      const after = records.length;
      const query: RecordsQuery = { after, limit: Math.min(pageSize, count - after) };
      const page = await this.#call<RecordsPage>(id, "records", query);
      if (page.length === 0) break;
      records.push(...page);
    }
    return records;
  }

  #used(id: string, { known, bytes }: Entry): KnownSession {
    this.keep(id, known, bytes);
    return known;
  }

  #forget(id: string): void {
    this.#bytes -= this.#entries.get(id)?.bytes ?? 0;
    this.#entries.delete(id);
  }

  // The object answers with what its handlers return.
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  async #call<Result>(id: string, handler: string, body: unknown): Promise<Result> {
    const { ingressUrl, service } = this.#options;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    return (await callSession(ingressUrl, { service, id, handler }, body)) as Result;
  }
}

const upTo = (records: readonly LogRecord[], last: ChainHead | undefined): readonly LogRecord[] =>
  last === undefined ? records : records.filter(({ seq }) => seq <= last.seq);

const lengthOf = (records: readonly LogRecord[]): number =>
  records.reduce((sum, { body }) => sum + body.length, 0);

/** Undefined if the records do not continue the session, as those of another session with its id, or if a newer release wrote them. */
function folds(session: FoldedSession, records: readonly LogRecord[]): FoldedSession | undefined {
  try {
    return foldRecords(session, records);
  } catch (error) {
    if (error instanceof LogError || error instanceof SessionError) return undefined;
    throw error;
  }
}
