import type { EventLog } from "@moora/event-log";
import { HttpProblem, unavailable } from "../problem.ts";
import type { ServerContext } from "../server-options.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import type { StreamHold } from "../routes/stream-hold.ts";
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

/** The response with the events of a session after a record. It releases the session when it ends. Throws `cursor-beyond-end`. */
export async function eventStream(
  { clock, limits, log, onError }: ServerContext,
  hold: StreamHold,
  after: number,
): Promise<Response> {
  const { live, drop } = hold;
  if (after > live.session.seq()) await checkCursor(log, live, after);
  const source = new EventSource(live, {
    after,
    maxBuffered: limits.maxBufferedBytes,
    onAvailable: () => paced.available(),
  });
  const close = (): void => {
    stopListening();
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
  return streamResponse(paced.stream);
}

/** Throws `cursor-beyond-end` for a record that the log does not have, and `unavailable` for one that cannot be read now. */
async function checkCursor(log: EventLog, live: LiveSession, after: number): Promise<void> {
  await live.refresh();
  if (after <= live.session.seq()) return;
  const seq = (await (await log.open(live.ref.id))?.head()) ?? 0;
  if (after <= seq) throw unavailable("The session has not read its newest records yet. Retry.");
  const detail = `The session has no record ${after}; the last one is ${seq}.`;
  throw new HttpProblem("cursor-beyond-end", detail, { seq });
}

/** A response of server-sent events. Proxies do not buffer it. */
export const streamResponse = (
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  headers: Readonly<Record<string, string>> = {},
): Response =>
  new Response(stream, {
    headers: { "content-type": "text/event-stream", "x-accel-buffering": "no", ...headers },
  });
