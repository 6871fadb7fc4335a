import type { AgentInput, Start } from "@moora/agent-core-state-machine";
import type { ChainHead } from "@moora/event-log";

/** Where an input is: shared by an input and the same input with what begins with it. */
interface Place {
  position: ChainHead | undefined;
  seq: number | undefined;
}

/** An input that is being dispatched, with its place. Each dispatch creates its own, so that equal inputs stay distinct. */
export class PendingInput {
  readonly input: AgentInput;
  readonly #place: Place;
  #body: string | undefined;

  constructor(input: AgentInput, place: Place = { position: undefined, seq: undefined }) {
    this.input = input;
    this.#place = place;
  }

  /** The position in the log; undefined for an input that is not stored yet, and in memory. */
  get position(): ChainHead | undefined {
    return this.#place.position;
  }

  set position(position: ChainHead | undefined) {
    this.#place.position = position;
  }

  /** The sequence number; undefined until the input is part of the session. */
  get seq(): number | undefined {
    return this.#place.seq;
  }

  set seq(seq: number | undefined) {
    this.#place.seq = seq;
  }

  /** The JSON text, cached: the length check and every attempt to append the input use it. */
  get body(): string {
    return (this.#body ??= JSON.stringify(this.input));
  }

  /** The same input, at the same place, with what begins with it. */
  begun(starts: readonly Start[]): PendingInput {
    const { starts: earlier = [] } = this.input;
    const begun = new PendingInput({ ...this.input, starts: [...earlier, ...starts] }, this.#place);
    // The text of a long input is not made twice.
    if (this.#body !== undefined && earlier.length === 0)
      begun.#body = `${this.#body.slice(0, -1)},"starts":${JSON.stringify(starts)}}`;
    return begun;
  }
}
