import type { FoldedSession } from "@moora/agent";
import type { ChainHead, LogRecord } from "@moora/event-log";
import { callSession } from "./ingress.ts";
import type {
  LogHead,
  LongSnapshot,
  RecordsPage,
  RecordsQuery,
  SnapshotPart,
  StoredSession,
  View,
  ViewQuery,
} from "./session-messages.ts";

export interface ReaderOptions {
  readonly ingressUrl: string;
  /** The name of the object of the sessions. */
  readonly service: string;
}

/** Makes the signal of each call that a read consists of. */
export type ReadSignal = () => AbortSignal;

/** The records after `after`, up to `last`. */
interface RecordsRange {
  readonly after: number;
  readonly last: number;
}

/** The first records of a read after `after`, `seq`: where it ends, if there are more, `last`: where the caller wants it to end. */
interface FirstRecords {
  readonly after: number;
  readonly first: RecordsPage;
  readonly seq: number | undefined;
  readonly last: ChainHead | undefined;
}

interface SnapshotWithFirst extends Pick<FirstRecords, "first" | "seq"> {
  readonly header: string;
  readonly snapshot: FoldedSession;
}

/** A handler of the object of a session. */
interface Handler {
  readonly id: string;
  readonly handler: string;
}

/** The number of records that are read at once; fewer if they are long. */
const pageSize = 200;

/** How often a long snapshot is read that another one replaces meanwhile. */
const snapshotReads = 5;

/** Reads what the objects of sessions store, through the ingress, in answers that Restate accepts. */
export class SessionReader {
  readonly #options: ReaderOptions;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  /** Resolves with the answer of `view`: to null, with the session as a whole. */
  async view(id: string, query: ViewQuery | null, signal?: ReadSignal): Promise<View> {
    return await this.#call<View>({ id, handler: "view" }, query, signal);
  }

  /** Resolves with which session an id has, and its last record; undefined if it has none. */
  async readHead(id: string, signal?: ReadSignal): Promise<LogHead | undefined> {
    return (await this.#call<LogHead | null>({ id, handler: "head" }, null, signal)) ?? undefined;
  }

  /** Resolves with the header; undefined if there is no such session. */
  async readHeader(id: string, signal?: ReadSignal): Promise<string | undefined> {
    return (await this.#call<string | null>({ id, handler: "header" }, null, signal)) ?? undefined;
  }

  /** Resolves with the stored snapshot and the first records after it. `seq`: that of the last record, if there are more. */
  async readSnapshot(id: string, signal: ReadSignal | undefined): Promise<SnapshotWithFirst> {
    for (let reads = 0; reads < snapshotReads; reads += 1) {
      const stored = await this.#call<StoredSession | null>({ id, handler: "stored" }, null, signal);
      if (stored === null) throw new Error(`The session "${id}" is no longer stored.`);
      const { header, seq } = stored;
      if ("snapshot" in stored) return { header, snapshot: stored.snapshot, first: stored.records, seq };
      const snapshot = await this.#readParts(id, stored, signal);
      if (snapshot !== undefined) return { header, snapshot, first: [], seq };
    }
    throw new Error(`The snapshot of the session "${id}" was replaced while it was read.`);
  }

  /** Resolves with a snapshot that is read in parts; undefined if it has been replaced. */
  async #readParts(
    id: string,
    { parts, at }: LongSnapshot,
    signal: ReadSignal | undefined,
  ): Promise<FoldedSession | undefined> {
    const texts: string[] = [];
    for (let index = 0; index < parts; index += 1) {
      const query: SnapshotPart = { at, index };
      const text = await this.#call<string | null>({ id, handler: "part" }, query, signal);
      if (text === null) return undefined;
      texts.push(text);
    }
    return JSON.parse(texts.join(""));
  }

  /** Resolves with the first records of a read, and those that follow them. */
  async readOn(
    id: string,
    { first, after, seq, last }: FirstRecords,
    signal: ReadSignal | undefined,
  ): Promise<readonly LogRecord[]> {
    const read = first.at(-1)?.seq ?? after;
    const range = { after: read, last: last?.seq ?? seq ?? read };
    return [...upTo(first, last), ...(await this.readRecords(id, range, signal))];
  }

  /** Resolves with records of a session. */
  async readRecords(id: string, range: RecordsRange, signal?: ReadSignal): Promise<readonly LogRecord[]> {
    const records: LogRecord[] = [];
    for await (const page of this.recordPages(id, range, signal)) records.push(...page);
    return records;
  }

  /** Yields records of a session, in pages that fit an append to a log. */
  async *recordPages(
    id: string,
    { after, last }: RecordsRange,
    signal?: ReadSignal,
  ): AsyncGenerator<RecordsPage> {
    for (let read = after; read < last;) {
      const query: RecordsQuery = { after: read, limit: Math.min(pageSize, last - read) };
      const page = await this.#call<RecordsPage>({ id, handler: "records" }, query, signal);
      if (page.length === 0) return;
      read += page.length;
      yield page;
    }
  }

  // The object answers with what its handlers return.
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  async #call<Result>(target: Handler, body: unknown, signal?: ReadSignal): Promise<Result> {
    const { ingressUrl, service } = this.#options;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    return (await callSession(ingressUrl, { service, ...target }, body, signal?.())) as Result;
  }
}

const upTo = (records: readonly LogRecord[], last: ChainHead | undefined): readonly LogRecord[] =>
  last === undefined ? records : records.filter(({ seq }) => seq <= last.seq);
