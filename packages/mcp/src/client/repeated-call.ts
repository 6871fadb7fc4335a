import { canonicalJson } from "@moora/agent";
import type { McpElicitation, McpElicitationAnswer } from "./elicitation.ts";
import { nextRound, type ServerQuestion, type WaitingCall } from "./waiting-call.ts";

/**
 * A call in the older protocol, in which the server asks while it works. A question without an answer ends the call; after the
 * answer the call is made again, and equal questions get the answers that were given.
 */
export class RepeatedCall {
  readonly #waiting: WaitingCall;
  readonly #ending = new AbortController();
  #used = 0;
  #question: ServerQuestion | undefined;

  constructor(waiting: WaitingCall) {
    this.#waiting = waiting;
  }

  /** Aborted by a question without an answer. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** The answer to a question of the server. Throws if a person has to be asked first; the call ends then. */
  answer({ message, schema }: McpElicitation): McpElicitationAnswer {
    const known = this.#waiting.answered[this.#used];
    const isKnown = known?.message === message && canonicalJson(known.schema) === canonicalJson(schema);
    if (!isKnown) {
      this.#question ??= { key: "", message, schema };
      this.#ending.abort();
      throw new Error("The call ends here, and is made again when the person has answered.");
    }
    this.#used += 1;
    return known.answer;
  }

  /** The call that waits for a person; undefined if nothing was asked. Answers to questions that were not asked again are dropped. */
  waiting(tool: string): WaitingCall | undefined {
    const question = this.#question;
    if (question === undefined) return undefined;
    const answered = this.#waiting.answered.slice(0, this.#used);
    return nextRound(tool, this.#waiting, { open: [question], answered });
  }
}
