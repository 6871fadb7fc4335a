import type { AgentEvent, AgentInput } from "@moora/agent";
import { ViewerChunks } from "@moora/agent/internal";
import { HttpProblem } from "../problem.ts";
import type { ServerContext } from "../server-options.ts";
import type { Cursor } from "../sessions/check-history.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import type { StreamHold } from "../sessions/stream-hold.ts";
import { PacedStream, type StreamSource } from "./paced-stream.ts";
import { chunkFrame, inputFrame } from "./sse.ts";

/**
 * The cursor of a request: the header `Last-Event-ID` of a browser that connects again counts before `after` of the address. Default: 0, the
 * beginning. Throws `invalid-cursor`.
 */
export function cursorOf(request: Request): Cursor {
  const { searchParams } = new URL(request.url);
  const text = request.headers.get("last-event-id") ?? searchParams.get("after") ?? "0";
  const after = Number(text);
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(after))
    throw new HttpProblem("invalid-cursor", "A cursor must be the number of a record, an integer from 0.");
  return { after, incarnation: searchParams.get("incarnation"), digest: searchParams.get("digest") };
}

/** The part of the lifetime of a stream that chance may leave out: streams that began together do not end together. */
const lifetimeSpread = 0.2;

/** How many records are read at first, and at most: then as many as fit in the buffer by the lengths of those before. */
const pageLengths = { first: 64, most: 1_024 } as const;

/**
 * The events of a session after a record, for one reader: each record once and in order. What the reader does not take in time is
 * left out, and read from the log when it is its turn.
 */
export class EventStream implements StreamSource {
  /** After how many milliseconds a browser connects again. */
  readonly head = "retry: 1000\n\n";
  readonly behindMessage =
    "A reader of a stream is behind; chunks were dropped, and records are read from the log again.";
  readonly #live: LiveSession;
  readonly #context: ServerContext;
  readonly #chunks = new ViewerChunks();
  readonly #stream: PacedStream;
  readonly #stops: readonly (() => void)[];
  /** The last record that was sent. */
  #last: number;
  #pageLength: number = pageLengths.first;

  constructor(hold: StreamHold, after: number) {
    const { live, call } = hold;
    const { context } = call.parts;
    this.#live = live;
    this.#context = context;
    this.#last = after;
    const stream = new PacedStream(hold, this);
    this.#stream = stream;
    const lifetimeMs = context.limits.streamLifetimeMs * (1 - lifetimeSpread * Math.random());
    this.#stops = [
      live.listen({
        onInput: (input, _state, seq) => this.#input(input, seq),
        onEvent: (event) => this.#event(event),
        onReplaced: () => stream.fallBehind(),
        onEnded: stream.end,
      }),
      context.clock.after(lifetimeMs, stream.end, { keepsAlive: false }),
    ];
    // The log is read first, also because the text before chunks must be known.
    stream.fallBehind();
    stream.begin();
  }

  get response(): Response {
    return this.#stream.response();
  }

  get isOver(): boolean {
    return this.#live.isEnded;
  }

  close(): void {
    for (const stop of this.#stops) stop();
  }

  #event(event: AgentEvent<unknown>): void {
    const chunk = this.#stream.isBehind ? undefined : this.#chunks.chunkOf(event);
    if (chunk !== undefined) this.#stream.send(chunkFrame(chunk));
  }

  #input(input: AgentInput, seq: number): void {
    if (this.#stream.isBehind || seq <= this.#last) return;
    if (seq > this.#last + 1) return this.#stream.fallBehind();
    this.#last = seq;
    this.#stream.send(inputFrame(seq, input));
  }

  /** Reads a page of the records that the reader does not have. After the last page, new events are sent as they come. */
  async catchUp(): Promise<void> {
    try {
      const length = this.#pageLength;
      const before = this.#live.session.seq();
      const records = await this.#live.session.history(this.#last, length);
      const texts = records.map(({ seq, input }) => inputFrame(seq, input));
      this.#last = records.at(-1)?.seq ?? this.#last;
      const sent = texts.reduce((sum, text) => sum + text.length, 0);
      const fitting = (records.length * this.#context.limits.maxBufferedBytes) / sent;
      if (records.length > 0) this.#pageLength = Math.max(1, Math.min(pageLengths.most, Math.floor(fitting)));
      this.#stream.resume(() => texts.forEach((text) => this.#stream.send(text)));
      const seq = this.#live.session.seq();
      const isMissing = this.#last < seq && (records.length > 0 || seq > before);
      // The log may have more, or has meanwhile.
      if (records.length === length || isMissing) return this.#stream.fallBehind();
      const { draft, questions } = this.#live.stream;
      this.#stream.uncounted(() => {
        for (const chunk of this.#chunks.begin(draft, questions)) this.#stream.send(chunkFrame(chunk));
      });
    } catch (error) {
      // The reader connects again, and resumes after what it has.
      if (!this.#live.isEnded) this.#context.onError(error);
      this.#stream.end();
    }
  }
}
