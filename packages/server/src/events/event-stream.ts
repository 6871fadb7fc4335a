import { HttpProblem } from "../problem.ts";
import type { ServerContext } from "../server-options.ts";
import type { SessionHold } from "../sessions/session-pool.ts";
import { EventSource } from "./event-source.ts";
import { PacedStream } from "./paced-stream.ts";
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
  throw new HttpProblem("invalid-cursor", "A cursor is the number of a record, an integer from 0.");
}

/** What a stream of events needs beside its session. */
export interface StreamOptions {
  readonly after: number;
  /** Ends the connection of a reader that takes nothing. */
  readonly drop: () => void;
  /** Called once, when the stream has ended. */
  readonly onEnd: () => void;
}

/** A stream that can be ended from outside. */
export interface OpenStream {
  readonly response: Response;
  readonly end: () => void;
}

/** The response with the events of a session. It releases the session when it ends. Throws `cursor-beyond-end`. */
export async function eventStream(
  { clock, limits, onError }: ServerContext,
  { live, release }: SessionHold,
  { after, drop, onEnd }: StreamOptions,
): Promise<OpenStream> {
  if (after > live.session.seq()) await live.session.refresh();
  const seq = live.session.seq();
  if (after > seq) {
    const detail = `The session has no record ${after}; the last one is ${seq}.`;
    throw new HttpProblem("cursor-beyond-end", detail, { seq });
  }
  const source = new EventSource(live, {
    after,
    maxBuffered: limits.maxBufferedBytes,
    onAvailable: () => paced.available(),
  });
  const close = (): void => {
    stopListening();
    source.close();
    release();
    onEnd();
  };
  const next = async (): Promise<string | undefined> => {
    try {
      return (await source.next())?.text;
    } catch (error) {
      // The reader connects again, and resumes after what it has.
      if (!live.isEnded) onError(error);
      paced.end();
      return undefined;
    }
  };
  const paced = new PacedStream(
    {
      next,
      nextNow: () => source.nextNow()?.text,
      close,
      get isAvailable() {
        return source.isAvailable;
      },
      get isEnded() {
        return live.isEnded;
      },
    },
    { clock, keepAliveMs: limits.keepAliveMs, stallMs: limits.streamStallMs, head: retryText, drop },
  );
  const stopListening = live.onEnded(() => paced.end());
  return { response: streamResponse(paced.stream), end: () => paced.end() };
}

/** A response of server-sent events. Proxies do not buffer it. */
export const streamResponse = (
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  headers: Readonly<Record<string, string>> = {},
): Response =>
  new Response(stream, {
    headers: { "content-type": "text/event-stream", "x-accel-buffering": "no", ...headers },
  });
