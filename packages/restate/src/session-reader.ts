import type { FoldedSession } from "@moora/agent";
import type { LogRecord } from "@moora/event-log";
import type { SessionCall } from "./ingress.ts";
import type { ViewQuery, View } from "./session-messages.ts";

/** Makes the signal of each call that a read consists of. */
export type ReadSignal = () => AbortSignal;

/** The records after `after`, up to `last`. `first`: those that the caller has. Default: none. */
interface RecordsRange {
  readonly after: number;
  readonly last: number;
  readonly first?: readonly LogRecord[];
}

/** The number of records that are read at once; fewer if they are long. */
const pageSize = 200;

/** Reads what the objects of sessions store, through the ingress, in answers that Restate accepts. */
export class SessionReader {
  readonly #call: SessionCall;

  constructor(call: SessionCall) {
    this.#call = call;
  }

  /** Resolves with a session from a head on; undefined if there is none of this id. */
  async view(id: string, known: ViewQuery | null, signal?: ReadSignal): Promise<View | undefined> {
    return (await this.#call(id, "view", known, signal?.())) ?? undefined;
  }

  /** Resolves with the snapshot at a record; undefined if it has been replaced. */
  async readSnapshot(
    id: string,
    { seq: at, parts }: { readonly seq: number; readonly parts: number },
    signal?: ReadSignal,
  ): Promise<FoldedSession | undefined> {
    let json = "";
    for (let index = 0; index < parts; index += 1) {
      const text = await this.#call(id, "part", { at, index }, signal?.());
      if (text === null) return undefined;
      json += text;
    }
    return JSON.parse(json);
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
    { after, last, first = [] }: RecordsRange,
    signal?: ReadSignal,
  ): AsyncGenerator<readonly LogRecord[]> {
    yield first.filter(({ seq }) => seq <= last);
    for (let read = after + first.length; read < last;) {
      const query = { after: read, limit: Math.min(pageSize, last - read) };
      const page = await this.#call(id, "records", query, signal?.());
      if (page.length === 0) return;
      read += page.length;
      yield page;
    }
  }
}
