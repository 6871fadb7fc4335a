import { foldHeader, SessionError, type FoldedSession } from "@moora/agent";
import { foldRecords, isFoldedHere } from "@moora/agent/internal";
import { LogError, type ChainHead, type LogRecord } from "@moora/event-log";
import { byteLength } from "./byte-length.ts";
import type { ViewQuery } from "./session-messages.ts";
import { SessionReader, type ReaderOptions, type ReadSignal } from "./session-reader.ts";

/** A session, and the text of its header. */
export interface SessionWithHeader {
  readonly header: string;
  readonly session: FoldedSession;
}

export interface CacheOptions extends ReaderOptions {
  /** How much is kept, in bytes of the JSON of states. */
  readonly bytes: number;
}

interface Entry {
  readonly known: SessionWithHeader;
  readonly bytes: number;
}

/** A read of a session up to a head, or as it is now; it rejects when a signal aborts. */
interface ReadOptions {
  readonly last?: ChainHead | undefined;
  readonly signal?: ReadSignal | undefined;
}

/**
 * The sessions that this process has folded last. A session is what its records fold to, so that one with the digest of the stored
 * head is the stored one, and need not be read. What is missing is read through the ingress, outside the journal of any handler.
 */
export class SessionCache {
  readonly #reader: SessionReader;
  readonly #limit: number;
  /** The one that was used last is at the end. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor({ bytes, ...options }: CacheOptions) {
    this.#reader = new SessionReader(options);
    this.#limit = bytes;
  }

  /** Keeps a session whose state has about this length as JSON, unless a later state of it is kept. */
  keep(id: string, known: SessionWithHeader, bytes: number): void {
    const kept = this.#entries.get(id)?.known;
    if (kept?.header === known.header && kept.session.head.seq > known.session.head.seq) return;
    this.#forget(id);
    if (bytes > this.#limit) return;
    this.#entries.set(id, { known, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#limit) return;
      this.#forget(oldest);
    }
  }

  /** Resolves with a session as it is now; undefined if it has received nothing. */
  async readCurrent(id: string): Promise<SessionWithHeader | undefined> {
    return (await this.#readNext(id)) ?? (await this.#readWhole(id));
  }

  /**
   * Resolves with a session at a head, for the input that its object applies to it. Rejects if the object no longer has what leads
   * to that: another run has applied the input; and with the reason of a signal.
   */
  async readAt(id: string, head: ChainHead, signal?: ReadSignal): Promise<SessionWithHeader> {
    const kept = this.#keptAt(id, head);
    if (kept !== undefined) return kept;
    const isBefore = (this.#entries.get(id)?.known.session.head.seq ?? head.seq) < head.seq;
    // A later state than that of the object is of a run whose records were not stored.
    if (!isBefore) this.#forget(id);
    const next = isBefore ? await this.#readNext(id, { last: head, signal }) : undefined;
    const known = next ?? (await this.#readStored(id, { last: head, signal }));
    if (known.session.head.digest === head.digest) return known;
    throw new Error(
      `The session "${id}" is no longer at its record ${head.seq}: another run has replaced this one.`,
    );
  }

  /** Resolves with a session at a head that its object has had, or at a later one. */
  async readSince(id: string, head: ChainHead, signal?: ReadSignal): Promise<SessionWithHeader> {
    const kept = this.#keptAt(id, head) ?? (await this.#readNext(id, { signal }));
    return kept ?? (await this.#readStored(id, { signal }));
  }

  /** Resolves with a session that is folded from its header to a head. Rejects if its records do not lead there. */
  async readFromHeader(
    id: string,
    {
      header,
      head,
      signal,
    }: {
      readonly header: string;
      readonly head: ChainHead;
      readonly signal?: ReadSignal | undefined;
    },
  ): Promise<FoldedSession> {
    const records = await this.#reader.readRecords(id, { after: 0, last: head.seq }, signal);
    const session = await foldRecords(foldHeader(header), records);
    if (session.head.digest === head.digest) return session;
    throw new Error(`The records of the session "${id}" do not lead to its record ${head.seq}.`);
  }

  #keptAt(id: string, head: ChainHead): SessionWithHeader | undefined {
    const entry = this.#entries.get(id);
    return entry?.known.session.head.digest === head.digest ? this.#touch(id, entry) : undefined;
  }

  /** Resolves with a session that is kept and the records after it, up to `last`; undefined if they do not lead there. */
  async #readNext(id: string, { last, signal }: ReadOptions = {}): Promise<SessionWithHeader | undefined> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    const { header, session } = entry.known;
    const query: ViewQuery = { after: session.head };
    const view = await this.#reader.view(id, query, signal);
    if (view === null || !("records" in view) || view.records === undefined) return undefined;
    const records = await this.#reader.readOn(
      id,
      { after: session.head.seq, first: view.records, seq: view.seq, last },
      signal,
    );
    const folded = await foldIfContinued(session, records);
    if (folded === undefined || (last !== undefined && folded.head.digest !== last.digest)) return undefined;
    return this.#touch(id, { known: { header, session: folded }, bytes: entry.bytes + lengthOf(records) });
  }

  async #readWhole(id: string): Promise<SessionWithHeader | undefined> {
    const view = await this.#reader.view(id, null);
    if (view === null) return undefined;
    // Too long for an answer.
    if (!("state" in view)) return await this.#readStored(id, {});
    const { header, state, seq, digest, rules } = view;
    const known = { header, session: { state, head: { seq, digest: digest ?? "" }, rules } };
    // Records are folded to states of this release only; the newest deployment may be of another one.
    const isContinued = digest !== undefined && isFoldedHere(known.session);
    return isContinued ? this.#touch(id, { known, bytes: byteLength(JSON.stringify(state)) }) : known;
  }

  /** Resolves with the stored snapshot and the records after it, up to `last`. */
  async #readStored(id: string, { last, signal }: ReadOptions): Promise<SessionWithHeader> {
    const { header, snapshot, first, seq } = await this.#reader.readSnapshot(id, signal);
    const after = snapshot.head.seq;
    const records = await this.#reader.readOn(id, { after, first, seq, last }, signal);
    const head = last ?? records.at(-1) ?? snapshot.head;
    const session = isFoldedHere(snapshot)
      ? await foldRecords(snapshot, records)
      : await this.readFromHeader(id, { header, head, signal });
    return this.#touch(id, { known: { header, session }, bytes: byteLength(JSON.stringify(session.state)) });
  }

  /** Makes a session the one that was used last. */
  #touch(id: string, { known, bytes }: Entry): SessionWithHeader {
    this.keep(id, known, bytes);
    return known;
  }

  #forget(id: string): void {
    this.#bytes -= this.#entries.get(id)?.bytes ?? 0;
    this.#entries.delete(id);
  }
}

const lengthOf = (records: readonly LogRecord[]): number =>
  records.reduce((sum, { body }) => sum + byteLength(body), 0);

/** Undefined if the records do not continue the session, as those of another session with its id, or if a newer release wrote them. */
async function foldIfContinued(
  session: FoldedSession,
  records: readonly LogRecord[],
): Promise<FoldedSession | undefined> {
  try {
    return await foldRecords(session, records);
  } catch (error) {
    if (error instanceof LogError || error instanceof SessionError) return undefined;
    throw error;
  }
}
