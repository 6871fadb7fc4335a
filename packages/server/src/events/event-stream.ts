import { HttpProblem } from "../problem.ts";
import type { ServerContext } from "../server-options.ts";
import { checkHistory, type Cursor } from "../sessions/check-history.ts";
import type { StreamHold } from "../sessions/stream-hold.ts";
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
  { clock, limits, log, onError, loggerOf }: ServerContext,
  hold: StreamHold,
  cursor: Cursor,
): Promise<Response> {
  const { live, drop } = hold;
  const { after } = cursor;
  await checkHistory(log, live, cursor);
  const source = new EventSource(live, {
    after,
    maxBuffered: limits.maxBufferedBytes,
    onBehind: () =>
      loggerOf(live.ref.id).log("stream-behind", {
        message:
          "A reader of a stream is behind; chunks were dropped, and records are read from the log again.",
      }),
    onAvailable: () => paced.available(),
  });
  const close = (): void => {
    stopListening();
    cancelLifetime();
    source.close();
    hold.release();
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
  hold.endsBy(() => paced.end());
  const cancelLifetime = clock.after(limits.streamLifetimeMs, () => paced.end(), { keepsAlive: false });
  return streamResponse(paced.stream);
}

/** A response of server-sent events. Proxies do not buffer it. */
export const streamResponse = (
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  headers: Readonly<Record<string, string>> = {},
): Response =>
  new Response(stream, {
    headers: { "content-type": "text/event-stream", "x-accel-buffering": "no", ...headers },
  });
