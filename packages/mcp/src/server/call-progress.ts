import { digestOf } from "@moora/event-log";

/** What a client was sent of the progress of a call: how many notifications, and short digests of the latest texts. */
export interface ReportedProgress {
  readonly count: number;
  readonly digests: readonly string[];
}

/** How many texts a call remembers between its rounds: what a client keeps has to stay small. */
const maxDigests = 200;

/**
 * The progress of one round of a call. What an earlier round has reported is not sent again, such as the beginning of a tool that
 * runs again with an answer; the numbers rise over all rounds.
 */
export class CallProgress {
  readonly #send: (progress: number, message: string) => void;
  readonly #earlier: ReadonlySet<string>;
  readonly #digests: Set<string>;
  #count: number;

  constructor(send: (progress: number, message: string) => void, reported?: ReportedProgress) {
    const { count = 0, digests = [] } = reported ?? {};
    this.#send = send;
    this.#earlier = new Set(digests);
    this.#digests = new Set(digests);
    this.#count = count;
  }

  report(toolCallId: string, text: string): void {
    const digest = digestOf(toolCallId, text).slice(0, 10);
    if (this.#earlier.has(digest)) return;
    this.#digests.add(digest);
    this.#count += 1;
    this.#send(this.#count, text);
  }

  /** What all rounds have reported so far. */
  reported(): ReportedProgress {
    return { count: this.#count, digests: [...this.#digests].slice(-maxDigests) };
  }
}
