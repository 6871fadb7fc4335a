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
  readonly #incarnation: string | undefined;
  readonly #first: string | undefined;
  #last: AgentInput | undefined;
  /** Computed when it is needed: a record may be long. */
  #id: HistoryId | undefined;

  constructor({ incarnation, digest }: Pick<SessionSnapshot, "incarnation" | "digest">) {
    this.#incarnation = incarnation;
    this.#first = digest;
  }

  /** Adds the next record. */
  add(input: AgentInput): void {
    this.#last = input;
    this.#id = undefined;
  }

  /** The identity after the last record; undefined for a server of an older release, which does not compare. */
  id(): HistoryId | undefined {
    return (this.#id ??= this.#computeId());
  }

  /** The query of a stream after the last record. */
  query(): string {
    const id = this.id();
    return id === undefined ? "" : `?${new URLSearchParams({ ...id }).toString()}`;
  }

  /** The query of a post: another session with the same id must not take it. */
  postQuery(): string {
    const incarnation = this.#incarnation;
    return incarnation === undefined ? "" : `?${new URLSearchParams({ incarnation }).toString()}`;
  }

  #computeId(): HistoryId | undefined {
    const [incarnation, first] = [this.#incarnation, this.#first];
    if (incarnation === undefined || first === undefined) return undefined;
    const digest = this.#last === undefined ? first : historyDigest(this.#last);
    return { incarnation, digest };
  }
}
