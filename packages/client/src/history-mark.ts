import { canonicalJson, type AgentInput } from "@moora/agent";
import { digestOf } from "@moora/event-log";
import type { SessionSnapshot } from "./open-view.ts";

/** Identifies the records that a session has, so that a server whose records differ refuses to continue with its own. */
export class HistoryMark {
  readonly #incarnation: string | undefined;
  readonly #first: string | undefined;
  #last: AgentInput | undefined;

  constructor({ incarnation, digest }: Pick<SessionSnapshot, "incarnation" | "digest">) {
    this.#incarnation = incarnation;
    this.#first = digest;
  }

  /** Adds the next record. */
  add(input: AgentInput): void {
    this.#last = input;
  }

  /** The query of a stream after the last record; "" for a server of an older release, which does not compare. */
  query(): string {
    if (this.#incarnation === undefined || this.#first === undefined) return "";
    const digest = this.#last === undefined ? this.#first : digestOf(canonicalJson(this.#last));
    return `?${new URLSearchParams({ incarnation: this.#incarnation, digest }).toString()}`;
  }
}
