import { foldHeader, SessionError, type FoldedSession } from "@moora/agent";
import { foldRecords } from "@moora/agent/internal";
import { digestOf, LogError, type ChainHead, type LogRecord } from "@moora/event-log";
import type { SessionCall } from "./ingress.ts";
import { byteLength } from "./message-limits.ts";
import { SessionReader, type ReadSignal } from "./session-reader.ts";
import type { ViewedRecords, ViewedSession, ViewQuery } from "./session-messages.ts";
import { isOfRelease } from "./stored-session.ts";

/** A session, and the text of its header. */
export interface SessionWithHeader {
  readonly header: string;
  readonly session: FoldedSession;
}

interface Entry {
  readonly known: SessionWithHeader;
  readonly bytes: number;
}

/** A read of a session up to a head, or as it is now; it rejects when a signal aborts. */
interface ReadOptions {
  readonly last?: ChainHead;
  readonly signal?: ReadSignal;
}

/** How often a session is read whose snapshot another one replaces meanwhile. */
const mostReads = 5;

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

  /** `bytes`: how much is kept, in bytes of the JSON of states. */
  constructor(call: SessionCall, bytes: number) {
    this.#reader = new SessionReader(call);
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
    return await this.#read(id, {});
  }

  /**
   * Resolves with a session at a head, for the input that its object applies to it. Rejects if the object no longer has what leads
   * to that: another run has applied the input; and with the reason of a signal.
   */
  async readAt(id: string, head: ChainHead, signal?: ReadSignal): Promise<SessionWithHeader> {
    const entry = this.#entries.get(id);
    if (entry?.known.session.head.digest === head.digest) return this.#touch(id, entry);
    // A later state than that of the object is of a run whose records were not stored.
    if (entry !== undefined && entry.known.session.head.seq >= head.seq) this.#forget(id);
    const known = await this.#read(id, { last: head, ...(signal === undefined ? {} : { signal }) });
    if (known?.session.head.digest === head.digest) return known;
    throw new Error(
      `The session "${id}" is no longer at its record ${head.seq}: another run has replaced this one.`,
    );
  }

  async #read(id: string, options: ReadOptions): Promise<SessionWithHeader | undefined> {
    for (let reads = 0; reads < mostReads; reads += 1) {
      const entry = this.#entries.get(id);
      const view = await this.#reader.view(
        id,
        entry === undefined ? null : queryOf(entry.known),
        options.signal,
      );
      if (view === undefined) return undefined;
      const read =
        "header" in view
          ? await this.#readWhole(id, { ...options, view })
          : entry && (await this.#continue(id, { ...options, entry, view }));
      if (read !== undefined) return this.#touch(id, read);
      this.#forget(id);
    }
    throw new Error(`The snapshot of the session "${id}" was replaced while it was read.`);
  }

  /** Folds the records after a session that is kept; undefined if they do not continue it, or if a newer release wrote them. */
  async #continue(
    id: string,
    { entry, view, last, signal }: ReadOptions & { readonly entry: Entry; readonly view: ViewedRecords },
  ): Promise<Entry | undefined> {
    const { header, session } = entry.known;
    const range = { after: session.head.seq, last: last?.seq ?? view.seq, first: view.records };
    const records = await this.#reader.readRecords(id, range, signal);
    try {
      const folded = await foldRecords(session, records);
      if (last !== undefined && folded.head.digest !== last.digest) return undefined;
      return { known: { header, session: folded }, bytes: entry.bytes + lengthOf(records) };
    } catch (error) {
      if (error instanceof LogError || error instanceof SessionError) return undefined;
      throw error;
    }
  }

  /** Folds the stored snapshot and the records after it; undefined if another snapshot has replaced it. One of another release is not used. */
  async #readWhole(
    id: string,
    { view, last, signal }: ReadOptions & { readonly view: ViewedSession },
  ): Promise<Entry | undefined> {
    const { header, snapshot, records, seq } = view;
    const start =
      snapshot.parts > 0 && isOfRelease(snapshot)
        ? await this.#reader.readSnapshot(id, snapshot, signal)
        : foldHeader(header);
    if (start === undefined) return undefined;
    const after = start.head.seq;
    const range = { after, last: last?.seq ?? seq, first: after === snapshot.seq ? records : [] };
    const session = await foldRecords(start, await this.#reader.readRecords(id, range, signal));
    return { known: { header, session }, bytes: byteLength(JSON.stringify(session.state)) };
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

/** Asks for what follows a session that the caller has. */
export const queryOf = ({ header, session: { head } }: SessionWithHeader): ViewQuery => ({
  header: digestOf(header),
  after: { seq: head.seq, digest: head.digest },
});

const lengthOf = (records: readonly LogRecord[]): number =>
  records.reduce((sum, { body }) => sum + byteLength(body), 0);
