import type { AgentInput } from "@moora/agent";
import { historyDigest } from "@moora/agent/internal";
import type { SessionSnapshot } from "./open-view.ts";

/** What identifies the records that a session has, beside their number. */
export interface HistoryId {
  readonly incarnation: string;
  /** The digest of the last record. */
  readonly digest: string;
}

/** Identifies the records that a session has, so that a server whose records differ refuses to continue with its own. */
export class HistoryPosition {
  readonly #incarnation: string;
  /** The digest of the last record, or the record: its digest is computed when it is needed, since a record may be long. */
  #last: string | AgentInput;

  constructor({ incarnation, digest }: Pick<SessionSnapshot, "incarnation" | "digest">) {
    this.#incarnation = incarnation;
    this.#last = digest;
  }

  /** Adds the next record. */
  add(input: AgentInput): void {
    this.#last = input;
  }

  /** The identity after the last record. */
  id(): HistoryId {
    if (typeof this.#last !== "string") this.#last = historyDigest(this.#last);
    return { incarnation: this.#incarnation, digest: this.#last };
  }

  /** The query of a stream after the last record. */
  query(): string {
    return `?${new URLSearchParams({ ...this.id() }).toString()}`;
  }

  /** The query of a post: another session with the same id must not take it. */
  postQuery(): string {
    return `?${new URLSearchParams({ incarnation: this.#incarnation }).toString()}`;
  }
}
