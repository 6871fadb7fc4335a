import type { RecordRow } from "../session/session-history.ts";

/** What the timeline shows from left to right: the records one after the other, or their times. */
export type AxisKind = "seq" | "time";

/** A part of an axis, in its values. */
export interface AxisRange {
  readonly from: number;
  readonly to: number;
}

/** The shortest part of an axis that is shown, in records and in milliseconds. */
const shortest: Readonly<Record<AxisKind, number>> = { seq: 8, time: 20 };

/** An axis of the timeline over the records of a session, which may still be added. */
export class Axis {
  readonly kind: AxisKind;
  readonly #rows: readonly RecordRow[];
  /** Times that never decrease: clocks of several processes may differ. */
  readonly #times: number[] = [];

  constructor(kind: AxisKind, rows: readonly RecordRow[]) {
    this.kind = kind;
    this.#rows = rows;
  }

  /** The whole axis. It ends after the last record, so that the state after it has a width. */
  get whole(): AxisRange {
    const [from, last] = [this.valueOf(0), this.valueOf(this.#rows.length)];
    return { from, to: last + (this.kind === "seq" ? 1 : Math.max((last - from) / 30, 1)) };
  }

  /** The value of a record. The position before the first one has the value of that one. */
  valueOf(seq: number): number {
    if (this.kind === "seq") return Math.max(seq, 1);
    for (let index = this.#times.length; index < this.#rows.length; index += 1) {
      const timestamp = this.#rows[index]?.timestamp ?? 0;
      this.#times.push(Math.max(timestamp, this.#times[index - 1] ?? timestamp));
    }
    return this.#times[Math.max(0, Math.min(seq, this.#rows.length) - 1)] ?? 0;
  }

  /** The record that is nearest to a value. */
  seqAt(value: number): number {
    let [low, high] = [0, this.#rows.length];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.valueOf(middle) <= value) low = middle;
      else high = middle - 1;
    }
    const next = Math.min(low + 1, this.#rows.length);
    return value - this.valueOf(low) > this.valueOf(next) - value ? next : low;
  }

  /** A range that is `factor` times as long, around a value, within the whole axis. */
  zoomed({ from, to }: AxisRange, factor: number, around: number): AxisRange {
    const { whole } = this;
    const length = Math.min(Math.max((to - from) * factor, shortest[this.kind]), whole.to - whole.from);
    const part = to === from ? 0 : (around - from) / (to - from);
    return this.#within(around - part * length, length);
  }

  /** The range between two values in any order, at least the shortest one. */
  part({ from, to }: AxisRange): AxisRange {
    const { whole } = this;
    const length = Math.min(Math.max(Math.abs(to - from), shortest[this.kind]), whole.to - whole.from);
    return this.#within((from + to - length) / 2, length);
  }

  /** A range that is moved by a value. */
  moved({ from, to }: AxisRange, by: number): AxisRange {
    return this.#within(from + by, to - from);
  }

  /** A range that contains a value: the same one if it does. */
  showing(range: AxisRange, value: number): AxisRange {
    const { from, to } = range;
    return value >= from && value <= to ? range : this.#within(value - (to - from) / 2, to - from);
  }

  #within(from: number, length: number): AxisRange {
    const { whole } = this;
    const start = Math.max(whole.from, Math.min(from, whole.to - length));
    return { from: start, to: start + length };
  }
}
