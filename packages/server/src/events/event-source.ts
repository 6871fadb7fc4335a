import type { AgentEvent, LoggedInput } from "@moora/agent";
import { ViewerChunks } from "@moora/agent/internal";
import type { LiveSession } from "../sessions/live-session.ts";
import { chunkFrame, inputFrame, type StreamFrame } from "./sse.ts";

/** What an event source needs beside its session. */
export interface SourceOptions {
  /** The last record that the reader has. */
  readonly after: number;
  /** The most characters of new events that wait in memory. */
  readonly maxBuffered: number;
  /** Called when the events that wait are more than `maxBuffered`: their chunks are dropped. */
  readonly onBehind: () => void;
  /** Called when an event may have become available. */
  readonly onAvailable: () => void;
}

/** How many records are read at first, and at most: then as many as fit in `maxBuffered` by the lengths of those before. */
const pageLengths = { first: 64, most: 1_024 } as const;

/** `counted`: how much of `maxBuffered` it takes. */
interface WaitingFrame {
  readonly frame: StreamFrame;
  readonly counted: number;
}

/**
 * The events of a session after a record, taken one by one: each record once and in order. What the reader does not take in
 * time is dropped from memory, and read from the log when it is its turn.
 */
export class EventSource {
  readonly #live: LiveSession;
  readonly #options: SourceOptions;
  readonly #chunks = new ViewerChunks();
  #last: number;
  #logged: readonly LoggedInput[] = [];
  #nextLogged = 0;
  /** How many records of the log were sent, and how many characters they had. */
  #sent = { records: 0, length: 0 };
  #waiting: WaitingFrame[] = [];
  #buffered = 0;
  /** Whether records may be missing in `#waiting`, so that the log is read first. */
  #isBehind = true;
  /** Whether chunks are kept: only after the log was read, and the text before them is known. */
  #takesChunks = false;
  readonly #stopListening: () => void;

  constructor(live: LiveSession, options: SourceOptions) {
    this.#live = live;
    this.#options = options;
    this.#last = options.after;
    this.#stopListening = live.listen({
      onInput: (input, _state, seq) => this.#push(inputFrame(seq, input)),
      onEvent: (event) => this.#event(event),
      onReplaced: () => {
        this.#fallBehind();
        options.onAvailable();
      },
    });
  }

  /** Whether `next` has an event, or has to read the log to know. */
  get isAvailable(): boolean {
    return this.#isBehind || this.#nextLogged < this.#logged.length || this.#waiting.length > 0;
  }

  /** The next event; undefined if none is available. Rejects if the log cannot be read. */
  async next(): Promise<StreamFrame | undefined> {
    for (;;) {
      const frame = this.nextNow();
      if (frame !== undefined) return frame;
      if (!this.#isBehind) return undefined;
      await this.#readLog();
    }
  }

  /** The next event that is in memory. */
  nextNow(): StreamFrame | undefined {
    return this.#nextOfLog() ?? this.#nextWaiting();
  }

  close(): void {
    this.#stopListening();
    this.#logged = [];
    this.#waiting = [];
  }

  #event(event: AgentEvent<unknown>): void {
    const chunk = this.#takesChunks ? this.#chunks.chunkOf(event) : undefined;
    if (chunk !== undefined) this.#push(chunkFrame(chunk));
  }

  #push(frame: StreamFrame): void {
    // Read from the log later.
    if (this.#isBehind) return;
    const counted = frame.text.length;
    this.#waiting.push({ frame, counted });
    this.#buffered += counted;
    if (this.#buffered > this.#options.maxBuffered) {
      this.#fallBehind();
      this.#options.onBehind();
    }
    this.#options.onAvailable();
  }

  #fallBehind(): void {
    this.#isBehind = true;
    this.#takesChunks = false;
    this.#waiting = [];
    this.#buffered = 0;
  }

  #nextOfLog(): StreamFrame | undefined {
    const logged = this.#logged[this.#nextLogged];
    if (logged === undefined) return undefined;
    this.#nextLogged += 1;
    if (this.#nextLogged === this.#logged.length) {
      this.#logged = [];
      this.#nextLogged = 0;
    }
    this.#last = logged.seq;
    const frame = inputFrame(logged.seq, logged.input);
    this.#sent.records += 1;
    this.#sent.length += frame.text.length;
    return frame;
  }

  #nextWaiting(): StreamFrame | undefined {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const { frame, counted } = next;
      this.#buffered -= counted;
      if (frame.seq === undefined) return frame;
      if (frame.seq <= this.#last) continue;
      if (frame.seq > this.#last + 1) {
        this.#fallBehind();
        return undefined;
      }
      this.#last = frame.seq;
      return frame;
    }
    return undefined;
  }

  #nextPageLength(): number {
    const { records, length } = this.#sent;
    this.#sent = { records: 0, length: 0 };
    if (records === 0) return pageLengths.first;
    const fitting = Math.floor((records * this.#options.maxBuffered) / length);
    return Math.max(1, Math.min(pageLengths.most, fitting));
  }

  /** Reads a page of the records that the reader does not have. After the last page, new events wait in memory. */
  async #readLog(): Promise<void> {
    const length = this.#nextPageLength();
    this.#isBehind = false;
    try {
      this.#logged = await this.#live.session.history(this.#last, length);
      this.#nextLogged = 0;
      // The log may have more.
      if (this.#logged.length === length) this.#fallBehind();
    } catch (error) {
      this.#isBehind = true;
      throw error;
    }
    if (this.#isBehind) return;
    this.#takesChunks = true;
    const { draft, questions } = this.#live.stream;
    // Not counted: a text that is longer than the buffer would fall behind again, without end.
    for (const chunk of this.#chunks.begin(draft, questions))
      this.#waiting.push({ frame: chunkFrame(chunk), counted: 0 });
    if (this.#waiting.length > 0) this.#options.onAvailable();
  }
}
