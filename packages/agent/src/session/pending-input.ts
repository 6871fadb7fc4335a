import type { AgentInput } from "@moora/agent-core-state-machine";
import type { ChainHead } from "@moora/event-log";

/** An input that is being dispatched, with its place. Each dispatch creates its own, so that equal inputs stay distinct. */
export class PendingInput {
  readonly input: AgentInput;
  /** The position in the log; undefined for an input that is not stored yet, and in memory. */
  position: ChainHead | undefined;
  /** The sequence number; undefined until the input is part of the session. */
  seq: number | undefined;
  #body: string | undefined;

  constructor(input: AgentInput, position?: ChainHead) {
    this.input = input;
    this.position = position;
  }

  /** The JSON text, cached: the length check and every attempt to append the input use it. */
  get body(): string {
    return (this.#body ??= JSON.stringify(this.input));
  }
}
