import { digestOfChanges } from "@moora/agent";
import { chainStart, recordDigest } from "@moora/event-log";
import { beginReplay, type Replay } from "@moora/agent-core-state-machine";
import type { SessionHistory } from "./session-history.ts";

/**
 * The result of the check of a record. `valid`: its digest continues the chain, and it changes the state as it did when it was
 * written. `damaged`: it or the record before it was changed, or one is missing. `differs`: it changes the state in another way.
 * `unchecked`: it was streamed without digests.
 */
export type RecordCheck = "valid" | "damaged" | "differs" | "unchecked";

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
    const isChained = seq === this.#seq && digest === recordDigest(this.#digest, body, changesDigest);
    // The next record is compared with what this one says, so that one changed record is one finding.
    this.#digest = digest;
    if (!isChained) return "damaged";
    return digestOfChanges(changes) === changesDigest ? "valid" : "differs";
  }
}
