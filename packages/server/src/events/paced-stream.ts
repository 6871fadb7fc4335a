import type { ServerContext } from "../server-options.ts";
import type { StreamHold } from "../sessions/stream-hold.ts";

/** What a `PacedStream` sends. */
export interface StreamSource {
  /** The first text. */
  readonly head: string;
  /** Whether nothing more is sent, so that the stream ends after what waits. */
  readonly isOver: boolean;
  /** The message for the log of the session when the reader is behind. */
  readonly behindMessage: string;
  /** Sends what a reader misses that is behind, with `resume` of the stream. It has taken everything else. */
  catchUp(): void | Promise<void>;
  /** Called when the reader takes the last text. Returns what is sent after it. */
  endText?(): string;
  /**
   * Sends that the texts end before they are complete, if they do. Returns what is sent after that; undefined if nothing was sent. Without
   * it, a stream that is cut off ends after what its reader has, who continues in another one.
   */
  cut?(): string | undefined;
  close(): void;
}

/** Up to this length, texts are given to a reader together. */
const batchLength = 16_384;

/**
 * A stream of texts that a reader takes at its own pace. What waits for it is limited: a reader that takes too little is behind, and what it
 * misses from then on is made when it has taken the rest. A reader that does not ask for `streamStallMs`, although there is a text, is
 * dropped. A pause is filled with comments.
 */
export class PacedStream {
  readonly #body: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #source: StreamSource;
  readonly #context: ServerContext;
  readonly #hold: StreamHold;
  readonly #encoder = new TextEncoder();
  /** `counted`: how much of the buffer it takes. */
  #waiting: { readonly text: string; readonly counted: number }[] = [];
  #buffered = 0;
  #isCounted = true;
  #isBehind = false;
  #wake: (() => void) | undefined;
  #cancelStall: (() => void) | undefined;
  #cancelKeepAlive: (() => void) | undefined;
  #isDone = false;
  #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;

  constructor(hold: StreamHold, source: StreamSource) {
    this.#context = hold.call.parts.context;
    this.#hold = hold;
    this.#source = source;
    this.#body = new ReadableStream(
      {
        start: (controller) => {
          this.#controller = controller;
          controller.enqueue(this.#encoder.encode(source.head));
        },
        pull: (controller) => this.#pull(controller),
        cancel: () => this.end(),
      },
      // Nothing is made ahead of the reader.
      { highWaterMark: 0 },
    );
  }

  /** A response of server-sent events. Proxies do not buffer it. */
  response(headers: Readonly<Record<string, string>> = {}): Response {
    return new Response(this.#body, {
      headers: {
        "content-type": "text/event-stream",
        "cache-control": "no-store, no-transform",
        "x-accel-buffering": "no",
        ...headers,
      },
    });
  }

  /** Whether nothing must be sent until `catchUp` is called. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  send(text: string): void {
    const counted = this.#isCounted ? text.length : 0;
    this.#waiting.push({ text, counted });
    this.#buffered += counted;
    const isFull = this.#buffered > this.#context.limits.maxBufferedBytes;
    if (isFull && this.#isCounted && !this.#isBehind && !this.#source.isOver) {
      this.#isBehind = true;
      const message = this.#source.behindMessage;
      this.#context.loggerOf(this.#hold.live.ref.id).log("stream-behind", { message });
    }
    this.available();
  }

  /** Nothing is sent from here on until the reader has taken what waits. */
  fallBehind(): void {
    this.#isBehind = true;
    this.available();
  }

  /** Sends what the reader misses. */
  resume(send: () => void): void {
    this.#isBehind = false;
    this.uncounted(send);
    this.available();
  }

  /** Does not count what is sent meanwhile among what may wait: a text that is longer than the buffer would fill it again, without end. */
  uncounted(send: () => void): void {
    this.#isCounted = false;
    try {
      send();
    } finally {
      this.#isCounted = true;
    }
  }

  /** Called when there may be a text, or the source may be over. */
  available(): void {
    if (this.#wake !== undefined) return this.#wake();
    // The reader has what it took before, and has not asked again.
    this.#watchStall();
  }

  /** Ends the stream when its client leaves, or has left, and when the server is closed. Called when the source is ready. */
  begin(): void {
    const { parts, request } = this.#hold.call;
    if (request.signal.aborted) return this.end();
    parts.streamEnds.add(this.end);
    request.signal.addEventListener("abort", this.end, { once: true });
  }

  readonly end = (): void => {
    if (this.#isDone) return;
    const rest = this.#cutText();
    this.#isDone = true;
    this.#endStall();
    this.#cancelKeepAlive?.();
    this.#waiting = [];
    this.#source.close();
    const { parts, request } = this.#hold.call;
    parts.streamEnds.delete(this.end);
    request.signal.removeEventListener("abort", this.end);
    this.#hold.release();
    this.#wake?.();
    try {
      if (rest !== undefined) this.#controller?.enqueue(this.#encoder.encode(rest));
      this.#controller?.close();
    } catch {
      // The reader has canceled it.
    }
  };

  /** What waits, and that it is cut off, so that it does not look complete. Undefined if the reader has everything, or there is none. */
  #cutText(): string | undefined {
    const wasWaiting = this.#isWaiting;
    let end: string | undefined;
    this.uncounted(() => (end = this.#source.cut?.()));
    if (end === undefined || (!wasWaiting && this.#waiting.length === 0)) return undefined;
    return this.#waiting.map(({ text }) => text).join("") + end;
  }

  /** Whether the reader has not taken everything that was sent, or left out. */
  get #isWaiting(): boolean {
    return this.#waiting.length > 0 || this.#isBehind;
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): Promise<void> {
    this.#endStall();
    const text = await this.#next();
    if (text === undefined || this.#isDone) return this.end();
    controller.enqueue(this.#encoder.encode(text));
    this.#endStall();
    if (this.#isWaiting || this.#source.isOver) this.#watchStall();
  }

  /** The next texts; undefined at the end. */
  async #next(): Promise<string | undefined> {
    while (!this.#isDone) {
      const text = this.#take();
      if (text !== undefined) return text;
      if (this.#isBehind) await this.#source.catchUp();
      else if (this.#source.isOver) return undefined;
      else if (await this.#isPauseOver()) return keepAliveText;
    }
    return undefined;
  }

  /** Takes several texts at once: a reader that is behind asks less often. */
  #take(): string | undefined {
    let text = "";
    let count = 0;
    for (const item of this.#waiting) {
      if (text.length >= batchLength) break;
      text += item.text;
      this.#buffered -= item.counted;
      count += 1;
    }
    if (count === 0) return undefined;
    this.#waiting.splice(0, count);
    return this.#isWaiting || !this.#source.isOver ? text : text + (this.#source.endText?.() ?? "");
  }

  /** Waits for the next text. Resolves with true if the pause has become long. */
  #isPauseOver(): Promise<boolean> {
    const { clock, limits } = this.#context;
    return new Promise((resolve) => {
      const finish = (isOver: boolean): void => {
        this.#wake = undefined;
        this.#cancelKeepAlive?.();
        resolve(isOver);
      };
      this.#wake = () => finish(false);
      this.#cancelKeepAlive = clock.after(limits.keepAliveMs, () => finish(true), { keepsAlive: false });
    });
  }

  #endStall(): void {
    this.#cancelStall?.();
    this.#cancelStall = undefined;
  }

  #watchStall(): void {
    if (this.#isDone || this.#cancelStall !== undefined) return;
    const { clock, limits } = this.#context;
    this.#cancelStall = clock.after(limits.streamStallMs, () => this.#drop(), { keepsAlive: false });
  }

  /** Ends the stream of a reader that takes nothing, and its connection. */
  #drop(): void {
    this.end();
    const { live, call } = this.#hold;
    this.#context.counters.count("moora_streams_dropped_total");
    this.#context.loggerOf(live.ref.id).log("stream-stalled", {
      message: "A reader took nothing of a stream for too long; its connection was ended.",
      data: { user: call.access.user },
    });
    call.connection.drop?.();
  }
}

const keepAliveText = ": keep-alive\n\n";
