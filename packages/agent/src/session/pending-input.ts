import type { AgentInput } from "@moora/agent-core-state-machine";
import type { ChainHead } from "@moora/event-log";

/** An input that is being dispatched. Each dispatch creates its own, so that equal inputs stay distinct. */
export class PendingInput {
  readonly input: AgentInput;
  /** The position of an input that was read from the log; undefined for one that is not stored yet. */
  readonly position: ChainHead | undefined;
  #seq: number | undefined;
  #body: string | undefined;

  constructor(input: AgentInput, position?: ChainHead) {
    this.input = input;
    this.position = position;
  }

  /** The sequence number; undefined until the input is part of the session. */
  get seq(): number | undefined {
    return this.#seq;
  }

  /** Records that the input is part of the session. */
  acceptAs(seq: number): void {
    this.#seq = seq;
  }

  /** The JSON text, cached: the length check and every attempt to append the input use it. */
  get body(): string {
    return (this.#body ??= JSON.stringify(this.input));
  }
}
