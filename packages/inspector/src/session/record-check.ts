import { checkChanges } from "@moora/agent";
import { chainStart, type LogRecord } from "@moora/event-log";
import { follows } from "@moora/event-log/store";
import { beginReplay, type Replay } from "@moora/agent-core-state-machine";
import type { SessionHistory } from "./session-history.ts";

/**
 * The result of the check of a record. `valid`: its digest continues the chain, and it changes the state as it did when it was
 * written by the same rules. `damaged`: it or the record before it was changed, or one is missing. `differs`: it changes the state in another way.
 * `unchecked`: it was streamed without digests.
 */
export type RecordCheck = "valid" | "damaged" | "differs" | "unchecked";

/** Whether a record continues the chain of digests after `before`, the digest of the record before it, or of the header. */
export const isChained = (before: string, record: Chained): boolean =>
  follows({ seq: 0, digest: before }, { ...record, seq: 1 });

type Chained = Pick<LogRecord, "body" | "changesDigest" | "digest">;

/**
 * Why a record cannot be read: `message` says it of one that is the one that was written. A changed one is not of another release, whatever its
 * text is now.
 */
export function unreadableText(
  { history: { records }, headerText }: { readonly history: SessionHistory; readonly headerText: string },
  record: Chained,
  message: string,
): string {
  const before = records.at(-1)?.digest ?? chainStart(headerText).digest;
  if (isChained(before, record)) return message;
  return (
    `Record ${records.length + 1} cannot be read, and its digest is wrong: it was changed, or one before it is missing. ` +
    "The records from here on are missing."
  );
}

/** Checks the records of a history one after the other, from the first one on. */
export class RecordChecker {
  readonly #history: SessionHistory;
  readonly #replay: Replay;
  #digest: string;
  #seq = 0;

  /** `headerText` is the JSON text of the header, from which the chain of digests starts. */
  constructor(history: SessionHistory, headerText: string) {
    this.#history = history;
    this.#digest = chainStart(headerText).digest;
    this.#replay = beginReplay(history.stateAt(0), { changes: true });
  }

  /** The last record that was checked. */
  get seq(): number {
    return this.#seq;
  }

  /** Checks the next record; undefined if there is none. */
  next(): RecordCheck | undefined {
    const record = this.#history.records[this.#seq];
    const input = this.#history.inputs[this.#seq];
    if (record === undefined || input === undefined) return undefined;
    this.#seq += 1;
    const { changes = [] } = this.#replay.apply(input) ?? {};
    const { seq, body, digest, changesDigest } = record;
    if (digest === undefined || changesDigest === undefined) return "unchecked";
    const isNext = seq === this.#seq && isChained(this.#digest, { body, changesDigest, digest });
    // The next record is compared with what this one says, so that one changed record is one finding.
    this.#digest = digest;
    if (!isNext) return "damaged";
    return checkChanges({ changesDigest }, changes) === "differs" ? "differs" : "valid";
  }
}
