import type { Lane, Work } from "./work.ts";

/** A stretch of the timeline: work from the record that opens it to the record that ends it. */
export interface Span {
  /** The number of the span in its session, from 0. */
  readonly id: number;
  readonly lane: Lane;
  /** The line within the lane: work at the same time is on different lines. */
  readonly line: number;
  readonly name: string;
  readonly from: number;
  /** The record that ends it; undefined while it is open. */
  to: number | undefined;
}

/** The lines that a lane may have. Further work at the same time shares the last one. */
export const maxLines = 4;

/** Makes spans of the work that is open after each record. */
export class SpanTracker {
  readonly #open = new Map<string, Span>();
  #count = 0;

  /** The work that is open now. Returns the spans that began or ended with this record. */
  next(seq: number, work: readonly Work[]): readonly Span[] {
    const changed: Span[] = [];
    const wanted = new Set(work.map(({ key }) => key));
    for (const [key, span] of this.#open) {
      if (wanted.has(key)) continue;
      span.to = seq;
      changed.push(span);
      this.#open.delete(key);
    }
    for (const { key, lane, name } of work) {
      if (this.#open.has(key)) continue;
      const span: Span = {
        id: this.#count,
        lane,
        line: this.#freeLine(lane),
        name,
        from: seq,
        to: undefined,
      };
      this.#count += 1;
      this.#open.set(key, span);
      changed.push(span);
    }
    return changed;
  }

  #freeLine(lane: Lane): number {
    const used = new Set(
      [...this.#open.values()].filter((span) => span.lane === lane).map(({ line }) => line),
    );
    for (let line = 0; line < maxLines; line += 1) if (!used.has(line)) return line;
    return maxLines - 1;
  }
}
