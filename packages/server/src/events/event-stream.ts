import { HttpProblem } from "../problem.ts";
import type { ServerContext } from "../server-options.ts";
import { checkHistory, type Cursor } from "../sessions/check-history.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import type { StreamHold } from "../sessions/stream-hold.ts";
import { EventSource } from "./event-source.ts";
import { PacedStream, type TextSource } from "./paced-stream.ts";
import { retryText } from "./sse.ts";

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

/**
 * The response with the events of a session after a record. It releases the session when it ends. Throws `cursor-beyond-end` and
 * `history-changed`.
 */
export async function eventStream(
  context: ServerContext,
  hold: StreamHold,
  cursor: Cursor,
): Promise<Response> {
  await checkHistory(context.log, hold.live, cursor);
  return streamResponse(new SessionStream(context, hold, cursor.after).stream);
}

/** The part of the lifetime of a stream that chance may leave out: streams that began together do not end together. */
const lifetimeSpread = 0.2;

/** The events of a session after a record, for one reader. It releases the session when it ends. */
class SessionStream implements TextSource {
  readonly #live: LiveSession;
  readonly #context: ServerContext;
  readonly #source: EventSource;
  readonly #paced: PacedStream;
  readonly #stops: readonly (() => void)[];

  constructor(context: ServerContext, hold: StreamHold, after: number) {
    const { live, drop } = hold;
    const { clock, limits } = context;
    const { keepAliveMs, streamStallMs: stallMs, streamLifetimeMs } = limits;
    this.#live = live;
    this.#context = context;
    this.#source = this.#sourceAfter(after);
    this.#paced = new PacedStream(this, { clock, keepAliveMs, stallMs, head: retryText, drop });
    const end = (): void => this.#paced.end();
    const lifetimeMs = streamLifetimeMs * (1 - lifetimeSpread * Math.random());
    const cancelLifetime = clock.after(lifetimeMs, end, { keepsAlive: false });
    this.#stops = [live.listen({ onEnded: end }), cancelLifetime, () => hold.release()];
    // Last: it ends the stream at once if its client has left.
    hold.endsBy(end);
  }

  get stream(): PacedStream["stream"] {
    return this.#paced.stream;
  }

  get isAvailable(): boolean {
    return this.#source.isAvailable;
  }

  get isEnded(): boolean {
    return this.#live.isEnded;
  }

  async next(): Promise<string | undefined> {
    try {
      return (await this.#source.next())?.text;
    } catch (error) {
      // The reader connects again, and resumes after what it has.
      if (!this.#live.isEnded) this.#context.onError(error);
      this.#paced.end();
      return undefined;
    }
  }

  nextNow(): string | undefined {
    return this.#source.nextNow()?.text;
  }

  close(): void {
    this.#source.close();
    for (const stop of this.#stops) stop();
  }

  #sourceAfter(after: number): EventSource {
    const message =
      "A reader of a stream is behind; chunks were dropped, and records are read from the log again.";
    return new EventSource(this.#live, {
      after,
      maxBuffered: this.#context.limits.maxBufferedBytes,
      onBehind: () => this.#context.loggerOf(this.#live.ref.id).log("stream-behind", { message }),
      onAvailable: () => this.#paced.available(),
    });
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
