import type { AgentEvent, LoggedInput } from "@moora/agent";
import { ViewerChunks } from "@moora/agent/internal";
import { HttpProblem } from "../problem.ts";
import type { ServerContext } from "../server-options.ts";
import type { Cursor } from "../sessions/check-history.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import type { StreamHold } from "../sessions/stream-hold.ts";
import { PacedStream, type TextSource } from "./paced-stream.ts";
import { chunkFrame, inputFrame, retryText, type StreamFrame } from "./sse.ts";
import { Waiting } from "./waiting.ts";

/**
 * The record after which a stream begins: the header `Last-Event-ID` of a browser that connects again counts before `after` of
 * the address. Default: 0, the beginning. Throws `invalid-cursor`.
 */
export function cursorOf(request: Request): number {
  const text = request.headers.get("last-event-id") ?? new URL(request.url).searchParams.get("after");
  if (text === null) return 0;
  const cursor = Number(text);
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(cursor)) return cursor;
  throw new HttpProblem("invalid-cursor", "A cursor must be the number of a record, an integer from 0.");
}

/** The cursor of a request. Throws `invalid-cursor`. */
export function cursorOfRequest(request: Request): Cursor {
  const { searchParams } = new URL(request.url);
  return {
    after: cursorOf(request),
    incarnation: searchParams.get("incarnation"),
    digest: searchParams.get("digest"),
  };
}

/** The part of the lifetime of a stream that chance may leave out: streams that began together do not end together. */
const lifetimeSpread = 0.2;

/** How many records are read at first, and at most: then as many as fit in the buffer by the lengths of those before. */
const pageLengths = { first: 64, most: 1_024 } as const;

/**
 * The events of a session after a record, for one reader: each record once and in order. What the reader does not take in time is
 * dropped from memory, and read from the log when it is its turn. It releases the session when it ends.
 */
export class EventStream implements TextSource {
  readonly #live: LiveSession;
  readonly #context: ServerContext;
  readonly #chunks = new ViewerChunks();
  readonly #waiting: Waiting<StreamFrame>;
  readonly #paced: PacedStream;
  readonly #stops: readonly (() => void)[];
  #last: number;
  #logged: readonly LoggedInput[] = [];
  #nextLogged = 0;
  /** How many records of the log were sent, and how many characters they had. */
  #sent = { records: 0, length: 0 };
  /** Whether records may be missing in `#waiting`, so that the log is read first. */
  #isBehind = true;
  /** Whether chunks are kept: only after the log was read, and the text before them is known. */
  #takesChunks = false;

  constructor(context: ServerContext, hold: StreamHold, after: number) {
    const { live, drop } = hold;
    const { clock, limits } = context;
    const { keepAliveMs, streamStallMs: stallMs, streamLifetimeMs, maxBufferedBytes } = limits;
    this.#live = live;
    this.#context = context;
    this.#last = after;
    this.#waiting = new Waiting(maxBufferedBytes);
    this.#paced = new PacedStream(this, { clock, keepAliveMs, stallMs, head: retryText, drop });
    const end = (): void => this.#paced.end();
    const lifetimeMs = streamLifetimeMs * (1 - lifetimeSpread * Math.random());
    const onReplaced = (): void => {
      this.#fallBehind();
      this.#paced.available();
    };
    this.#stops = [
      live.listen({
        onInput: (input, _state, seq) => this.#push(inputFrame(seq, input)),
        onEvent: (event) => this.#event(event),
        onReplaced,
        onEnded: end,
      }),
      clock.after(lifetimeMs, end, { keepsAlive: false }),
      () => hold.release(),
    ];
    // Last: it ends the stream at once if its client has left.
    hold.endsBy(end);
  }

  get response(): Response {
    return streamResponse(this.#paced.stream);
  }

  /** Whether `next` has an event, or has to read the log to know. */
  get isAvailable(): boolean {
    return this.#isBehind || this.#nextLogged < this.#logged.length || !this.#waiting.isEmpty;
  }

  get isEnded(): boolean {
    return this.#live.isEnded;
  }

  async next(): Promise<string | undefined> {
    try {
      for (;;) {
        const text = this.nextNow();
        if (text !== undefined || !this.#isBehind) return text;
        await this.#readLog();
      }
    } catch (error) {
      // The reader connects again, and resumes after what it has.
      if (!this.#live.isEnded) this.#context.onError(error);
      this.#paced.end();
      return undefined;
    }
  }

  nextNow(): string | undefined {
    return (this.#nextOfLog() ?? this.#nextWaiting())?.text;
  }

  close(): void {
    for (const stop of this.#stops) stop();
    this.#logged = [];
    this.#waiting.clear();
  }

  #event(event: AgentEvent<unknown>): void {
    const chunk = this.#takesChunks ? this.#chunks.chunkOf(event) : undefined;
    if (chunk !== undefined) this.#push(chunkFrame(chunk));
  }

  #push(frame: StreamFrame): void {
    // Read from the log later.
    if (this.#isBehind) return;
    this.#waiting.add(frame);
    if (this.#waiting.isFull) {
      this.#fallBehind();
      const message =
        "A reader of a stream is behind; chunks were dropped, and records are read from the log again.";
      this.#context.loggerOf(this.#live.ref.id).log("stream-behind", { message });
    }
    this.#paced.available();
  }

  #fallBehind(): void {
    this.#isBehind = true;
    this.#takesChunks = false;
    this.#waiting.clear();
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
    for (let frame = this.#waiting.take(); frame !== undefined; frame = this.#waiting.take()) {
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
    const fitting = Math.floor((records * this.#context.limits.maxBufferedBytes) / length);
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
    this.#waiting.uncounted(() => {
      for (const chunk of this.#chunks.begin(draft, questions)) this.#waiting.add(chunkFrame(chunk));
    });
    if (!this.#waiting.isEmpty) this.#paced.available();
  }
}

/** A response of server-sent events. Proxies do not buffer it. */
export const streamResponse = (
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  headers: Readonly<Record<string, string>> = {},
): Response =>
  new Response(stream, {
    headers: {
      "content-type": "text/event-stream",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
      ...headers,
    },
  });
