import { digestOf } from "@moora/event-log";

/** What a client was sent of the progress of a call: how many notifications, and short digests of the latest texts. */
export interface ReportedProgress {
  readonly count: number;
  readonly digests: readonly string[];
}

/** How many texts a call remembers: what a client keeps between the rounds has to stay small. */
const maxDigests = 200;

type SendProgress = (progress: number, message: string) => void;

/**
 * The progress of one round of a call. What an earlier round has reported is not sent again, such as the beginning of a tool that
 * runs again with an answer; the numbers rise over all rounds.
 */
export class CallProgress {
  readonly #send: SendProgress | undefined;
  readonly #earlier: ReadonlySet<string>;
  readonly #digests: Set<string>;
  #count: number;

  /** Without `send`, nothing is reported. */
  constructor(send: SendProgress | undefined, reported?: ReportedProgress) {
    const { count = 0, digests = [] } = reported ?? {};
    this.#send = send;
    this.#earlier = new Set(digests);
    this.#digests = new Set(digests);
    this.#count = count;
  }

  report(toolCallId: string, text: string): void {
    if (this.#send === undefined) return;
    const digest = digestOf(toolCallId, text).slice(0, 10);
    if (this.#earlier.has(digest)) return;
    this.#remember(digest);
    this.#count += 1;
    this.#send(this.#count, text);
  }

  /** Adds a digest as the latest one, and deletes the oldest one beyond the limit. */
  #remember(digest: string): void {
    this.#digests.delete(digest);
    this.#digests.add(digest);
    const [oldest = digest] = this.#digests;
    if (this.#digests.size > maxDigests) this.#digests.delete(oldest);
  }

  /** What all rounds have reported so far. */
  reported(): ReportedProgress {
    return { count: this.#count, digests: [...this.#digests] };
  }
}
