import type { DurableSession } from "@moora/agent";

const positions = new WeakMap<DurableSession<unknown>, DataPosition>();

/** Which application data a session has, and since which of its records. */
export class DataPosition {
  #data: unknown;
  #seq: number;

  /** The data position of a session, which is kept up to date from the first call on. */
  static of(session: DurableSession<unknown>): DataPosition {
    const known = positions.get(session);
    if (known !== undefined) return known;
    const position = new DataPosition(session);
    positions.set(session, position);
    return position;
  }

  private constructor(session: DurableSession<unknown>) {
    this.#data = session.current().data;
    // What records before this one have changed is not known.
    this.#seq = session.seq();
    session.onInput((_input, { data }, seq) => {
      if (data === this.#data) return;
      this.#data = data;
      this.#seq = seq;
    });
  }

  /** The record from which on the data certainly was what it is now. */
  get seq(): number {
    return this.#seq;
  }

  /** Whether this object is the data, and was it after record `seq`, too. */
  isSince(data: unknown, seq: number): boolean {
    return data === this.#data && seq >= this.#seq;
  }
}
