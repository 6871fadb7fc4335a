import type { AgentInput } from "@moora/agent-core-state-machine";
import type { ChainHead } from "@moora/event-log";

/** An input on its way into a session. Each dispatch makes its own, so that equal inputs are not taken for one. */
export class PendingInput {
  readonly input: AgentInput;
  /** Its position, where it was read from the log; undefined for an input that is not stored yet. */
  readonly position: ChainHead | undefined;
  #seq: number | undefined;
  #body: string | undefined;

  constructor(input: AgentInput, position?: ChainHead) {
    this.input = input;
    this.position = position;
  }

  /** Its sequence number, as soon as it is part of the session. */
  get seq(): number | undefined {
    return this.#seq;
  }

  /** Records that the input is part of the session. */
  acceptAs(seq: number): void {
    this.#seq = seq;
  }

  /** Its JSON text: needed to check its length, and again for every attempt to append it. */
  get body(): string {
    return (this.#body ??= JSON.stringify(this.input));
  }
}
